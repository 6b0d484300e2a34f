import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Config } from '../config.ts';

export type DocumentLimits = Pick<
  Config,
  | 'maxDocumentCharacters'
  | 'maxTokens'
  | 'maxDepth'
  | 'maxFields'
  | 'maxFragments'
  | 'maxAliases'
  | 'maxRootFields'
  | 'maxMutations'
  | 'maxDirectives'
>;

const over = (code: string, what: string, limit: number, actual?: number): GraphQLError =>
  new GraphQLError(`${what}: at most ${limit}${actual === undefined ? '' : `, here ${actual}`}.`, {
    extensions: { code, limit, ...(actual === undefined ? {} : { actual }) },
  });

/** What is wrong with a text before it is parsed. */
export function textLimit(text: string, { maxDocumentCharacters }: DocumentLimits): GraphQLError | undefined {
  return text.length > maxDocumentCharacters
    ? over('DOCUMENT_TOO_LONG', 'Characters in a document', maxDocumentCharacters, text.length)
    : undefined;
}

/**
 * Which limits a document breaks: fragments are counted where they are spread.
 * Asked before validation, which takes time that grows with the square of some of these.
 */
export function documentLimits(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const measured = new Map<string, Measure>();
  const errors: GraphQLError[] = [];
  const check = (code: string, what: string, limit: number, actual: number) => {
    // Fragments that double themselves count past all numbers.
    if (actual > limit) errors.push(over(code, what, limit, actual < COUNTED_MAX ? actual : undefined));
  };
  check('TOO_MANY_FRAGMENTS', 'Fragments in a document', limits.maxFragments, fragments.size);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, fields, aliases, directives, roots } = measure(definition);
    check('TOO_MANY_FIELDS', 'Fields in a document', limits.maxFields, fields);
    check('TOO_DEEP', 'Fields below one another', limits.maxDepth, depth);
    check('TOO_MANY_ALIASES', 'Aliases in a document', limits.maxAliases, aliases);
    check('TOO_MANY_DIRECTIVES', 'Directives in a document', limits.maxDirectives, directives);
    check('TOO_MANY_ROOT_FIELDS', 'Fields at the root of an operation', limits.maxRootFields, roots);
    if (definition.operation === 'mutation')
      check('TOO_MANY_MUTATIONS', 'Mutations in an operation', limits.maxMutations, roots);
  }
  return errors;

  function measure({ selectionSet, directives }: OperationDefinitionNode): Measure {
    const below = measureSet(selectionSet);
    return { ...below, directives: below.directives + (directives?.length ?? 0) };
  }

  function measureSet({ selections }: SelectionSetNode): Measure {
    const sum: Measure = { depth: 0, fields: 0, aliases: 0, directives: 0, roots: 0 };
    for (const selection of selections) {
      sum.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) {
        const below = selection.selectionSet ? measureSet(selection.selectionSet) : none;
        sum.fields += below.fields + 1;
        sum.aliases += below.aliases + (selection.alias ? 1 : 0);
        sum.directives += below.directives;
        sum.roots++;
        // How deep introspection may go is a rule of validation.
        if (!selection.name.value.startsWith('__')) sum.depth = Math.max(sum.depth, below.depth + 1);
        continue;
      }
      const inside =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(selection.name.value)
          : measureSet(selection.selectionSet);
      sum.fields += inside.fields;
      sum.aliases += inside.aliases;
      sum.directives += inside.directives;
      sum.roots += inside.roots;
      sum.depth = Math.max(sum.depth, inside.depth);
    }
    return sum;
  }

  /** Once for each fragment: a fragment of fragments of fragments would double with every level. */
  function measureFragment(name: string): Measure {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, none); // a cycle, which validation refuses, ends here
    const fragment = fragments.get(name);
    const measure = fragment ? measureSet(fragment.selectionSet) : none;
    measured.set(name, measure);
    return measure;
  }
}

/** Past this, a number says no more than that it is too large. */
const COUNTED_MAX = 1_000_000;

interface Measure {
  depth: number;
  fields: number;
  aliases: number;
  directives: number;
  roots: number;
}
const none: Measure = { depth: 0, fields: 0, aliases: 0, directives: 0, roots: 0 };
