/** Whether manifests have the documents of the files as they are now. */
import { type DocumentNode, print, separateOperations, visit } from 'graphql';
import { oncePer } from '../lib/remember.ts';
import type { CheckedOperation } from './documents.ts';
import type { Finding } from './finding.ts';

/** Findings of operations of files that no manifest has as they are. None without both kinds. */
export function staleFindings(operations: readonly CheckedOperation[]): Finding[] {
  const trusted = operations.filter(({ isFromManifest }) => isFromManifest);
  const texts = new Set(trusted.map(comparable));
  const names = new Set(trusted.map(({ name }) => name));
  return operations
    .filter((each) => trusted.length > 0 && !each.isFromManifest && !texts.has(comparable(each)))
    .map(({ name, location }) => {
      const how = names.has(name) ? `its ${name} differs` : 'no manifest has it';
      const message = `The manifest is older than the document: ${how}. Make it anew.`;
      return { severity: 'error', code: 'STALE_MANIFEST', message, location };
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
