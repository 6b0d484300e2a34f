/** The trusted documents, by what requests and logs know them by. */
import type { TrustedDocuments } from '../../../config/documents/trusted-documents.ts';

export type Trusted = ReturnType<typeof createTrusted>;

export function createTrusted(documents: TrustedDocuments) {
  const ids = new Map([...documents].map(([id, text]) => [text, id]));
  const names = operationNames(documents.values());
  return {
    textOf: (id: string): string | undefined => documents.get(id),
    hasText: (text: string): boolean => ids.has(text),
    idOf: (text: string): string | undefined => ids.get(text),
    /** Whether an operation of this name is in them. */
    hasName: (name: string): boolean => names.has(name),
  };
}

/** The names of the operations in these documents. */
export function operationNames(documents: Iterable<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const text of documents) {
    for (const line of text.split('\n')) {
      const [, name] = /^(?:query|mutation)\s+([A-Za-z_]\w*)/.exec(line.trimStart()) ?? [];
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}
