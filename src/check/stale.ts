/** Whether manifests have the documents of the files as they are now. */
import { type DocumentNode, type GraphQLSchema, Kind, print, separateOperations, visit } from 'graphql';
import { oncePer } from '../lib/remember.ts';
import { usesOf } from '../engine/plan/document-uses.ts';
import type { CheckedOperation } from './documents.ts';
import type { Finding } from './finding.ts';

/** Findings of operations of files that no manifest has, with the fields in which the manifest differs. None without both kinds. */
export function staleFindings(schema: GraphQLSchema, operations: readonly CheckedOperation[]): Finding[] {
  const trusted = operations.filter(({ isFromManifest }) => isFromManifest);
  if (trusted.length === 0) return [];
  const byName = new Map<string, CheckedOperation[]>();
  for (const each of trusted) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  return operations
    .filter(({ isFromManifest }) => !isFromManifest)
    .flatMap((operation): Finding[] => {
      const known = byName.get(operation.name) ?? [];
      const text = comparable(operation);
      if (known.some((each) => comparable(each) === text)) return [];
      const last = known.at(-1);
      const [coordinate, how] = last ? difference(schema, operation, last) : [undefined, 'no manifest has it'];
      const message = `The manifest is older than the document: ${how}. Make it anew.`;
      return [{ severity: 'error', code: 'STALE_MANIFEST', message, coordinate, place: operation.place }];
    });
}

/** Equal for documents that differ in layout, in the order of fragments, and in what clients add. */
const comparable = oncePer(({ document, operationName }: CheckedOperation): string => {
  const own = separateOperations(document)[operationName ?? ''] ?? document;
  const definitions = withoutTypename(own).definitions.map((each) => print(each));
  return definitions.sort().join('\n');
});

const withoutTypename = (document: DocumentNode): DocumentNode =>
  visit(document, { Field: ({ name, alias }) => (name.value === '__typename' && !alias ? null : undefined) });

/** The first coordinate that one of them has and the other has not. */
function difference(
  schema: GraphQLSchema,
  now: CheckedOperation,
  before: CheckedOperation,
): [coordinate: string | undefined, how: string] {
  const [new_, old] = [now, before].map((each) => coordinatesOf(schema, each));
  const added = [...new_!].filter((each) => !old!.has(each));
  const removed = [...old!].filter((each) => !new_!.has(each));
  const parts = [
    ...(added.length > 0 ? [`it lacks ${added.join(', ')}`] : []),
    ...(removed.length > 0 ? [`it still has ${removed.join(', ')}`] : []),
  ];
  return [added[0] ?? removed[0], parts.join(' and ') || 'their texts differ'];
}

const coordinatesOf = (schema: GraphQLSchema, { document }: CheckedOperation): ReadonlySet<string> =>
  new Set(
    usesOf(schema, document)
      .filter(({ node }) => node.kind === Kind.FIELD || node.kind === Kind.ARGUMENT)
      .map(({ coordinate }) => coordinate),
  );
