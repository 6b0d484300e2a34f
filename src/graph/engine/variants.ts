/**
 * Members that are written in several variants, of which a parameter chooses one: the content of a note, by `format`.
 *
 * The record's own endpoint takes the parameter, and some lists take it for all their items. The items of such a list cost one call of
 * the list for each variant selected, not one call each. The first variant comes with the list itself.
 */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import { asObjects } from '../types/decode.ts';
import { withMembers } from '../../lib/objects.ts';
import { withValue } from '../../lib/promises.ts';
import { UpstreamFailure } from '../../upstream/errors.ts';
import { createApiRequest, requestLine } from '../../upstream/http/request.ts';
import { argumentsIfValid } from './arguments.ts';
import type { Context } from './builder.ts';
import type { Variables } from './document.ts';
import type { FieldRule } from './field-rule.ts';
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
      const isOwnWanted = items.some(({ names }) => names.includes(member));
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

/** The input of a list's call, with the variant that it is requested in. */
export const inVariant = (input: object, variants: ListVariants | undefined): object =>
  variants?.main === undefined ? input : withMembers(input, { [variants.param]: variants.main });

/** The call that listed an item. */
interface Listing {
  endpoint: Endpoint;
  input: object;
  variants: ListVariants;
}
const listings = new WeakMap<object, Listing>();

/** The call that listed each item. */
export function listedBy(items: readonly unknown[], listing: Listing): void {
  for (const item of items) if (typeof item === 'object' && item !== null) listings.set(item, listing);
}

/** The item in this variant, from the list that it came in; undefined where it was not listed, or its list takes no variants. */
export function itemInVariant(
  { variant }: FieldRule,
  item: Record<string, unknown>,
  args: object,
  names: readonly string[] | undefined,
  { upstream }: Context,
  path: Path,
): unknown {
  const listing = variant && listings.get(item);
  if (!listing || listing.variants.param !== variant.param) return undefined;
  const { endpoint, input, variants } = listing;
  const value = variant.of(args as never);
  if (value === variants.main) return item;
  const pending = upstream.responses.load(endpoint, withMembers(input, { [variants.param]: value }), names, path);
  return withValue(pending, (response) => {
    const items = asObjects((response as Record<string, unknown[]> | null)?.[endpoint.list!] as object[] | undefined);
    const found = items.find(({ id }: { id?: unknown }) => id === item.id);
    // The list has changed between its two calls.
    if (!found) {
      const details = { service: endpoint.service, request: requestLine(createApiRequest(endpoint, input)) };
      throw new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', details, 'the list no longer has the item');
    }
    return found;
  });
}
