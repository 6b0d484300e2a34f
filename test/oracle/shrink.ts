/** Reduces a failing case while it still fails in the same way. */
import { type Oddities, noOddities } from './oddities.ts';
import {
  type ASTNode,
  type DocumentNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  parse,
  print,
  visit,
} from 'graphql';
import type { CaseOperation, Case } from './generate-case.ts';
import type { Outcome } from './run-case.ts';

/** The kind of a failure without details that change between runs. */
export const sortOf = (kind: string): string => kind.replace(/ \[.*$/, '').replace(/: [a-z_].*$/, '');

/** `run` runs one case, at most `most` times. */
export async function shrink(
  given: Case,
  kind: string,
  run: (given: Case) => Promise<Outcome>,
  most = 600,
): Promise<Case> {
  let left = most;
  const fails = async (candidate: Case): Promise<boolean> => {
    if (left-- <= 0) return false;
    const { violations } = await run(candidate);
    return violations.some((each) => sortOf(each.kind) === sortOf(kind));
  };
  let best = given;
  const { met } = await run(given);
  const named: Case = { ...given, faults: { ...given.faults, only: met } };
  if (await fails(named)) best = named;
  for (let smaller = true; smaller && left > 0;) {
    smaller = false;
    for (const candidate of candidates(best)) {
      if (!(await fails(candidate))) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

/** Smaller cases, the smallest first. */
function* candidates(given: Case): Generator<Case> {
  const { steps, faults, manners, settings } = given;
  for (let at = 0; at < steps.length; at++)
    if (steps.length > 1) yield { ...given, steps: steps.filter((_, each) => each !== at) };
  for (const [at, step] of steps.entries()) {
    if (step.operations.length < 2 || step.isCrossing) continue;
    for (let index = 0; index < step.operations.length; index++)
      yield withStep(
        given,
        at,
        step.operations.filter((_, each) => each !== index),
      );
  }
  const only = Object.entries(faults.only ?? {});
  if (faults.only && only.length > 0) {
    yield { ...given, faults: { ...faults, only: {} } };
    for (let at = 0; at < only.length; at++)
      yield { ...given, faults: { ...faults, only: Object.fromEntries(only.filter((_, each) => each !== at)) } };
  }
  if (manners.fields !== 'honoured') yield { ...given, manners: { ...manners, fields: 'honoured' } };
  if (manners.caching !== 'none') yield { ...given, manners: { ...manners, caching: 'none' } };
  if (manners.hidesTotals) yield { ...given, manners: { ...manners, hidesTotals: false } };
  if (manners.hidesItems) yield { ...given, manners: { ...manners, hidesItems: false } };
  const { oddities } = given;
  for (const name of Object.keys(noOddities) as (keyof Oddities)[])
    if (oddities[name] !== noOddities[name]) yield { ...given, oddities: { ...oddities, [name]: noOddities[name] } };
  if (manners.ignoresStarts) yield { ...given, manners: { ...manners, ignoresStarts: false } };
  if (manners.ignoresWindows) yield { ...given, manners: { ...manners, ignoresWindows: false } };
  if (settings.recordTtlSeconds !== 0) yield { ...given, settings: { ...settings, recordTtlSeconds: 0 } };
  if (settings.bySockets) yield { ...given, settings: { ...settings, bySockets: false } };
  if (settings.readAttempts !== 1) yield { ...given, settings: { ...settings, readAttempts: 1 } };
  for (const [at, { operations }] of steps.entries())
    for (const [index, operation] of operations.entries())
      for (const smaller of smallerOperations(operation)) yield withStep(given, at, operations.with(index, smaller));
}

const withStep = (given: Case, at: number, operations: CaseOperation[]): Case => ({
  ...given,
  steps: given.steps.with(at, { ...given.steps[at]!, operations }),
});

function* smallerOperations(operation: CaseOperation): Generator<CaseOperation> {
  const { client, person } = operation;
  if (client.isReload) yield { ...operation, client: { ...client, isReload: false } };
  if (client.leavesAfter !== undefined) yield { ...operation, client: { ...client, leavesAfter: undefined } };
  if (client.via !== 'pipeline') yield { ...operation, client: { ...client, via: 'pipeline' } };
  const document = parse(operation.document, { noLocation: true });
  for (const smaller of smallerDocuments(document)) yield { ...operation, ...tidied(smaller, operation.variables) };
  if (person !== null) yield { ...operation, person: null };
}

/** Documents without one node, or with a fragment inlined. */
function* smallerDocuments(document: DocumentNode): Generator<DocumentNode> {
  const selections: SelectionNode[] = [];
  const extras: ASTNode[] = [];
  visit(document, {
    enter(node) {
      if (node.kind === Kind.FIELD || node.kind === Kind.INLINE_FRAGMENT || node.kind === Kind.FRAGMENT_SPREAD)
        selections.push(node);
      if (node.kind === Kind.DIRECTIVE || node.kind === Kind.ARGUMENT) extras.push(node);
    },
  });
  for (const node of selections) yield without(document, node);
  for (const node of selections) {
    if (node.kind === Kind.INLINE_FRAGMENT && !node.directives?.length)
      yield unfolded(document, node, node.selectionSet);
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = document.definitions.find(
        (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === node.name.value,
      );
      if (fragment?.kind === Kind.FRAGMENT_DEFINITION)
        yield replaced(document, node, {
          kind: Kind.INLINE_FRAGMENT,
          typeCondition: fragment.typeCondition,
          directives: node.directives ?? [],
          selectionSet: fragment.selectionSet,
        });
    }
  }
  for (const node of extras) yield without(document, node);
}

const without = (document: DocumentNode, removed: ASTNode): DocumentNode =>
  visit(document, { enter: (node) => (node === removed ? null : undefined) });
const replaced = (document: DocumentNode, old: ASTNode, by: ASTNode): DocumentNode =>
  visit(document, { enter: (node) => (node === old ? by : undefined) });
const unfolded = (document: DocumentNode, fragment: SelectionNode, { selections }: SelectionSetNode): DocumentNode =>
  visit(document, {
    SelectionSet: {
      leave: (set) => {
        const place = set.selections.indexOf(fragment);
        return place < 0
          ? undefined
          : {
              ...set,
              selections: [...set.selections.slice(0, place), ...selections, ...set.selections.slice(place + 1)],
            };
      },
    },
  });

/** Removes unused fragments and variables, and empty selections. */
function tidied(
  document: DocumentNode,
  variables: CaseOperation['variables'],
): Pick<CaseOperation, 'document' | 'variables'> {
  let tidy = document;
  for (let before = ''; before !== print(tidy);) {
    before = print(tidy);
    const spreads = new Set<string>();
    visit(tidy, { FragmentSpread: ({ name }) => void spreads.add(name.value) });
    tidy = visit(tidy, {
      Field: { leave: (node) => (node.selectionSet?.selections.length === 0 ? null : undefined) },
      InlineFragment: { leave: (node) => (node.selectionSet.selections.length === 0 ? null : undefined) },
      FragmentDefinition: (node) =>
        spreads.has(node.name.value) && node.selectionSet.selections.length ? undefined : null,
      FragmentSpread: ({ name }) =>
        tidy.definitions.some(
          (each) =>
            each.kind === Kind.FRAGMENT_DEFINITION &&
            each.name.value === name.value &&
            each.selectionSet.selections.length,
        )
          ? undefined
          : null,
    });
  }
  const used = new Set<string>();
  visit(tidy, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void used.add(name.value),
  });
  tidy = visit(tidy, { VariableDefinition: (node) => (used.has(node.variable.name.value) ? undefined : null) });
  return {
    document: print(tidy).replace(/\s+/g, ' ').trim(),
    variables: Object.fromEntries(Object.entries(variables).filter(([name]) => used.has(name))),
  };
}
