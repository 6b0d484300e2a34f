/** The files of `--reads`: what programs read of the responses to their documents, as `trackReads` of the client package counts it. */
import { isPlainObject } from '../lib/objects.ts';
import { readTextFile } from '../lib/text/read-text.ts';
import { UserError } from '../lib/user-error.ts';

export interface FieldReads {
  /** How many objects had the field. */
  received: number;
  /** How many times it was read. */
  read: number;
  /** The length of its key and value as JSON, with all below it. */
  bytes: number;
}

export interface ReadsOfDocument {
  /** How many results were tracked. */
  results: number;
  /** By the response keys from the root of the document, joined by dots, without the indexes of lists. */
  fields: ReadonlyMap<string, FieldReads>;
  /** Bytes of the calls to the service, by the same keys. Empty if no result told its calls. */
  calls: ReadonlyMap<string, number>;
}

/** By the name of the operation or fragment. */
export type Reads = ReadonlyMap<string, ReadsOfDocument>;

/** Several files, as of several test processes, are added. Throws a UserError for what cannot be read, or is of another kind. */
export function readReads(paths: readonly string[]): Reads {
  const sum = new Map<string, { results: number; fields: Map<string, FieldReads>; calls: Map<string, number> }>();
  for (const path of paths)
    for (const [name, { results, fields, calls }] of Object.entries(documentsIn(path))) {
      const known = sum.get(name) ?? { results: 0, fields: new Map<string, FieldReads>(), calls: new Map() };
      sum.set(name, known);
      known.results += results;
      for (const [key, bytes] of Object.entries(calls)) known.calls.set(key, (known.calls.get(key) ?? 0) + bytes);
      for (const [key, { received, read, bytes }] of Object.entries(fields)) {
        const before = known.fields.get(key) ?? { received: 0, read: 0, bytes: 0 };
        const after = { received: before.received + received, read: before.read + read, bytes: before.bytes + bytes };
        known.fields.set(key, after);
      }
    }
  return sum;
}

type WrittenReads = Record<
  string,
  { results: number; fields: Record<string, FieldReads>; calls: Record<string, number> }
>;

function documentsIn(path: string): WrittenReads {
  let value: unknown;
  try {
    value = JSON.parse(readTextFile(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new UserError(`${path} cannot be read (${code}).`);
    throw new UserError(`${path} is not JSON: ${message}`);
  }
  const documents = isPlainObject(value) && value.version === 1 ? value.documents : undefined;
  if (!isPlainObject(documents) || !Object.values(documents).every(isDocument))
    throw new UserError(`${path} is not what \`readsReport()\` of catalog-graphql-client/reads returns.`);
  return documents as unknown as WrittenReads;
}

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0;

const isDocument = (value: unknown): boolean =>
  isPlainObject(value) &&
  isCount(value.results) &&
  isPlainObject(value.calls) &&
  Object.values(value.calls).every(isCount) &&
  isPlainObject(value.fields) &&
  Object.values(value.fields).every(
    (each) => isPlainObject(each) && isCount(each.received) && isCount(each.read) && isCount(each.bytes),
  );
