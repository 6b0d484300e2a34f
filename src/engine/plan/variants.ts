/**
 * Members that are written in several variants, of which a parameter chooses one: the content of a note, by `format`.
 *
 * The record's own endpoint takes the parameter, and some lists take it for all their items. The items of such a list cost one call of
 * the list for each variant selected, not one call each. The first variant comes with the list itself.
 */
import { argumentsIfValid } from './arguments.ts';
import type { Variables } from './document.ts';
import type { FieldRule } from './declaration-types.ts';
import type { ListVariants, SelectionPlan } from './operation-plan.ts';

/** Undefined where no variant but the record's own is selected. */
export function variantsOf(
  param: string | undefined,
  items: readonly SelectionPlan[],
  variables: Variables,
): ListVariants | undefined {
  if (param === undefined) return undefined;
  for (const item of items) {
    for (const { fields } of [item, ...item.deferred]) {
      const field = fields.find(({ rule, mode }) => mode === 'call' && rule.variant?.param === param);
      if (!field) continue;
      const member = field.rule.embedded!.member;
      // Anywhere: `nodes` and `edges` show the same items.
      const isOwnWanted = items.some(({ members }) => members.includes(member));
      return { param, member, main: isOwnWanted ? undefined : variantIn(field.rule, field.args, variables) };
    }
  }
  return undefined;
}

export function variantIn(
  { variant }: FieldRule,
  args: (variables: Variables) => object,
  variables: Variables,
): string | undefined {
  const given = argumentsIfValid(args, variables);
  return given && variant?.of(given as never);
}
