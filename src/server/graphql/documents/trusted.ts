/** The trusted documents in use. They are replaced as a whole when the manifest changes. */
import type { TrustedDocuments } from '../../../config/documents/trusted-documents.ts';

export type Trusted = ReturnType<typeof createTrusted>;

export function createTrusted(documents: TrustedDocuments) {
  let current = documents;
  let ids = idsByText(documents);
  let names = operationNames(documents.values());
  let replaced = 0;
  return {
    textOf: (id: string): string | undefined => current.get(id),
    has: (id: string): boolean => current.has(id),
    hasText: (text: string): boolean => ids.has(text),
    idOf: (text: string): string | undefined => ids.get(text),
    /** Whether an operation of this name is in them. */
    hasName: (name: string): boolean => names.has(name),
    /** How often they were replaced: a stored response is of the documents before. */
    replaced: (): number => replaced,
    /** False if these are the documents in use. */
    replace(given: TrustedDocuments): boolean {
      if (isEqual(current, given)) return false;
      current = given;
      ids = idsByText(given);
      names = operationNames(given.values());
      replaced++;
      return true;
    },
  };
}

const idsByText = (documents: TrustedDocuments) => new Map([...documents].map(([id, text]) => [text, id]));

const isEqual = (a: TrustedDocuments, b: TrustedDocuments): boolean =>
  a.size === b.size && [...a].every(([id, text]) => b.get(id) === text);

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
