/** Limits of documents, of variables, and of what an operation may cost. All are checked before anything is run. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type InlineFragmentNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Config } from '../../config/settings.ts';
import type { ClientCode } from '../errors/codes.ts';
import { worstCaseOf } from '../cost/call-cost.ts';
import type { CallRange, Maximum } from '../cost/worst-case.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import type { PlanCheck } from '../plan/plan-cache.ts';
import { countComparisons } from './overlaps.ts';

const over = (code: ClientCode, what: string, limit: number, actual?: number): GraphQLError =>
  new GraphQLError(`${what}: at most ${limit}${actual === undefined ? '' : `, here ${actual}`}.`, {
    extensions: { code, limit, ...(actual === undefined ? {} : { actual }) },
  });

/** What decides whether a document may run. */
export type DocumentSettings = Pick<
  Config,
  | 'maxDocumentCharacters'
  | 'maxTokens'
  | 'maxNesting'
  | 'maxFields'
  | 'maxFragments'
  | 'maxDepth'
  | 'maxAliases'
  | 'maxDirectives'
  | 'maxRootFields'
  | 'maxMutations'
  | 'maxPlannedFields'
  | 'maxUpstreamCalls'
  | 'possibleCallsFactor'
  | 'maxItems'
  | 'maxValues'
  | 'introspection'
>;

/** Limits of the text, which are checked before it is parsed. */
export function textLimit(
  text: string,
  { maxDocumentCharacters, maxNesting }: DocumentSettings,
): GraphQLError | undefined {
  if (text.length > maxDocumentCharacters)
    return over('DOCUMENT_TOO_LONG', 'Characters in a document', maxDocumentCharacters, text.length);
  return nestsDeeper(text, maxNesting) ? over('TOO_DEEP', 'Nesting of brackets', maxNesting) : undefined;
}

/** Block strings, strings, comments and brackets. A string that is not closed ends with the text; the parser rejects it. */
const BRACKETS = /"""(?:[^"\\]|\\(?:""")?|"{1,2}(?!"))*(?:""")?|"(?:[^"\\]|\\.)*"?|#[^\n\r]*|[[{()}\]]/gs;

/** Whether brackets nest deeper than `most`. The parser is recursive; before it is optimised, 2,000 levels overflow the stack. */
function nestsDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(BRACKETS)) {
    if ('[{('.includes(token)) depth++;
    else if (']})'.includes(token)) depth--;
    if (depth > most) return true;
  }
  return false;
}

/**
 * Limits of the document. A fragment counts each time it is spread.
 * They are checked before validation, because the time of validation grows with the square of some of these numbers.
 */
export function documentLimits(document: DocumentNode, limits: DocumentSettings): GraphQLError[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const measured = new Map<string, Measure>();
  const errors: GraphQLError[] = [];
  const check = (code: ClientCode, what: string, limit: number, actual: number) => {
    // Nested fragments can multiply the number beyond any meaning.
    if (actual > limit) errors.push(over(code, what, limit, actual < COUNTED_MAX ? actual : undefined));
  };
  check('TOO_MANY_FRAGMENTS', 'Fragments in a document', limits.maxFragments, fragments.size);
  for (const definition of document.definitions) {
    const isOperation = definition.kind === Kind.OPERATION_DEFINITION;
    // Unused fragments are validated too.
    if (!isOperation && (definition.kind !== Kind.FRAGMENT_DEFINITION || errors.length > 0)) continue;
    const { depth, fields, aliases, directives, roots } = isOperation
      ? measureSet(definition.selectionSet)
      : measureDefinition(definition);
    const allDirectives = directives + (definition.directives?.length ?? 0);
    check('TOO_MANY_FIELDS', 'Fields in a document', limits.maxFields, fields);
    check('TOO_DEEP', 'Nesting of fields', limits.maxDepth, depth);
    check('TOO_MANY_ALIASES', 'Aliases in a document', limits.maxAliases, aliases);
    check('TOO_MANY_DIRECTIVES', 'Directives in a document', limits.maxDirectives, allDirectives);
    if (!isOperation) continue;
    check('TOO_MANY_ROOT_FIELDS', 'Fields at the root of an operation', limits.maxRootFields, roots);
    if (definition.operation === 'mutation')
      check('TOO_MANY_MUTATIONS', 'Mutations in an operation', limits.maxMutations, roots);
  }
  if (errors.length === 0 && countComparisons(document) > COMPARISONS_MAX) errors.push(tooAlike);
  return errors;

  function measureSet({ selections }: SelectionSetNode): Measure {
    const sum = { ...none };
    for (const selection of selections) {
      const inside = measureInside(selection);
      const isField = selection.kind === Kind.FIELD;
      // A validation rule limits the depth of introspection, whose fragments are on its own types.
      const isIntrospection = isField && isReserved(selection.name.value);
      sum.directives += inside.directives + (selection.directives?.length ?? 0);
      sum.fields += inside.fields + (isField ? 1 : 0);
      sum.aliases += inside.aliases + (isField && selection.alias ? 1 : 0);
      sum.roots += isField ? 1 : inside.roots;
      if (!isIntrospection) sum.depth = Math.max(sum.depth, inside.depth + (isField ? 1 : 0));
    }
    return sum;
  }

  function measureInside(selection: SelectionNode): Measure {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return measureDefinition(selection);
    return selection.selectionSet ? measureSet(selection.selectionSet) : none;
  }

  function measureDefinition(fragment: FragmentDefinitionNode | InlineFragmentNode): Measure {
    const measure = measureSet(fragment.selectionSet);
    return isReserved(fragment.typeCondition?.name.value) ? { ...measure, depth: 0 } : measure;
  }

  /** Each fragment is measured once. Without that, nested fragments would take exponential time. */
  function measureFragment(name: string): Measure {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, none); // ends a cycle, which validation rejects
    const fragment = fragments.get(name);
    const measure = fragment ? measureDefinition(fragment) : none;
    measured.set(name, measure);
    return measure;
  }
}

/** The names of introspection: a query of the schema meets no other types below `__schema` and `__type`. */
const isReserved = (name: string | undefined): boolean => name?.startsWith('__') ?? false;

/** Comparisons of fields in validation, counted wherever the fields are: about 20 ms. A chain of 160 nested pages is within the limit. */
const COMPARISONS_MAX = 1_000_000;

const tooAlike = new GraphQLError('Too many fields of the same name.', {
  extensions: { code: 'TOO_MANY_FIELDS' satisfies ClientCode },
});

/** Values in variables. Lists of inputs have at most a hundred items; beyond this limit, coercion takes longer than the operation. */
const VARIABLE_VALUES_MAX = 10_000;

/** The error for variables with too many values, checked before they are coerced; undefined if they are within the limit. */
export const variablesLimit = (variables: object): GraphQLError | undefined =>
  hasMoreValues(variables, VARIABLE_VALUES_MAX)
    ? over('BAD_USER_INPUT', 'Values in variables', VARIABLE_VALUES_MAX)
    : undefined;

export function hasMoreValues(json: object, most: number): boolean {
  const waiting: object[] = [json]; // an explicit stack, because JSON can nest deeper than the call stack
  let values = 0;
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    const held: readonly unknown[] = Array.isArray(each) ? each : Object.values(each);
    values += held.length;
    if (values > most) return true;
    for (const value of held) if (typeof value === 'object' && value !== null) waiting.push(value);
  }
  return false;
}

/** Larger numbers, which only nested fragments reach, are not reported. */
const COUNTED_MAX = 1_000_000;

const none = { depth: 0, fields: 0, aliases: 0, directives: 0, roots: 0 };
type Measure = typeof none;

/** Rejects a plan that costs too much. The error names the most expensive field, which is the one to change. */
export function costCheck(limits: DocumentSettings): PlanCheck {
  return (plan, variables) => {
    const { calls, items, values } = worstCaseOf(plan, variables);
    const exceeded = exceededCalls(calls, isOfMutation(plan), limits);
    if (exceeded) {
      const { by, ...over } = exceeded;
      const { path, coordinate, [by]: max } = calls.fields.reduce((a, b) => (b[by] > a[by] ? b : a));
      const all = { likely: calls.likely, most: calls.max };
      return tooMany('TOO_MANY_CALLS', over, 'calls of the service', { path, coordinate, max }, all);
    }
    const shown = (limit: number, actual: number) => ({ does: 'may show', limit, actual });
    if (items.max > limits.maxItems)
      return tooMany('TOO_MANY_ITEMS', shown(limits.maxItems, items.max), 'items of lists', items.dearest);
    if (values.max > limits.maxValues)
      return tooMany('TOO_MANY_VALUES', shown(limits.maxValues, values.max), 'values', values.dearest);
    return undefined;
  };
}

/** What is over a limit. */
interface ExceededLimit {
  does: string;
  limit: number;
  actual: number;
}

/**
 * A query is judged by what is likely: its run stops at the limit, and what was not loaded has an error. Many times as much must not be
 * possible. A mutation is judged by what is possible: what it has written stays written.
 */
export function exceededCalls(
  { likely, max }: Pick<CallRange, 'likely' | 'max'>,
  isMutation: boolean,
  { maxUpstreamCalls: limit, possibleCallsFactor }: Pick<DocumentSettings, 'maxUpstreamCalls' | 'possibleCallsFactor'>,
): (ExceededLimit & { by: 'likely' | 'max' }) | undefined {
  if (max <= limit) return undefined;
  if (!isMutation && likely > limit) return { by: 'likely', does: 'is likely to cost', limit, actual: likely };
  const most = isMutation ? limit : limit * possibleCallsFactor;
  return max > most ? { by: 'max', does: 'may cost', limit: most, actual: max } : undefined;
}

export const isOfMutation = ({ root }: OperationPlan): boolean => root.type.name === 'Mutation';

const tooMany = (
  code: ClientCode,
  { does, limit, actual }: ExceededLimit,
  what: string,
  { path, coordinate, max }: Maximum['dearest'],
  more: object = {},
): GraphQLError =>
  new GraphQLError(
    `The operation ${does} ${actual} ${what}, ${max} of them for ${coordinate}, and at most ${limit} are allowed.`,
    { extensions: { code, limit, actual, ...more, field: path, coordinate } },
  );
