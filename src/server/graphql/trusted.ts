/** The trusted documents in use. They are replaced as a whole when the manifest changes. */
import { type TrustedDocuments } from '../../config/trusted-documents.ts';
import { operationNames } from '../observability/operations.ts';

export type Trusted = ReturnType<typeof createTrusted>;

export function createTrusted(documents: TrustedDocuments) {
  let current = documents;
  let texts = new Set(documents.values());
  let names = operationNames(documents.values());
  let replaced = 0;
  return {
    textOf: (id: string): string | undefined => current.get(id),
    has: (id: string): boolean => current.has(id),
    hasText: (text: string): boolean => texts.has(text),
    /** Whether an operation of this name is in them. */
    hasName: (name: string): boolean => names.has(name),
    /** How often they were replaced: a stored response is of the documents before. */
    replaced: (): number => replaced,
    /** False if these are the documents in use. */
    replace(given: TrustedDocuments): boolean {
      if (isEqual(current, given)) return false;
      current = given;
      texts = new Set(given.values());
      names = operationNames(given.values());
      replaced++;
      return true;
    },
  };
}

const isEqual = (a: TrustedDocuments, b: TrustedDocuments): boolean =>
  a.size === b.size && [...a].every(([id, text]) => b.get(id) === text);
