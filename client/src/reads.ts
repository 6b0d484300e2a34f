declare const process: { env: { NODE_ENV?: string } };

/** What was received and read of one field, by all results that were tracked. */
export interface FieldReads {
  /** How many objects had the field. */
  received: number;
  /** How many times it was read. */
  read: number;
  /** The length of its key and value as JSON, with all below it. */
  bytes: number;
}

/** What a program read, as `catalog-graphql check --reads` takes it. */
export interface ReadsReport {
  version: 1;
  /** By the name of the operation or fragment. */
  documents: Record<
    string,
    {
      /** How many results were tracked. */
      results: number;
      /** By the response keys from the root of the document, joined by dots, without the indexes of lists. */
      fields: Record<string, FieldReads>;
      /** Bytes of the calls to the service, by the same keys, if results had the calls of `x-explain: trace`. */
      calls: Record<string, number>;
    }
  >;
}

/** A document of graphql-js, a text, or what the compiler of Relay makes of an operation or a fragment. */
export type TrackedDocument =
  | string
  | { readonly definitions: readonly { readonly kind: string }[] }
  | { readonly params: { readonly name: string } }
  | { readonly name: string }
  | { toString(): string };

interface Tracked {
  name: string;
  copy: unknown;
}

type Extensions = { readonly upstream?: unknown } | Readonly<Record<string, unknown>>;

/** A response key or a name may be `constructor`, which every other object has. */
const byName = <Value>() => Object.create(null) as Record<string, Value>;

let documents: ReadsReport['documents'] = byName();
/** By the object that a client returned, so that a component that renders again counts it once and gets the same object. */
let tracked = new WeakMap<object, Tracked[]>();
/** Of each copy, the object that it was made of. */
const sources = new WeakMap<object, object>();
let hasWarned = false;

/**
 * Returns a copy of `data` that counts which of its fields are read; `document` is the operation or fragment that it is the result of.
 * For development and tests: in a production bundle it returns `data`, and says so once. What reads all fields of an object, such as a
 * spread or JSON.stringify, counts as a read of each. `extensions`: those of the result, for the bytes of the calls.
 */
export const trackReads: <T>(data: T, document: TrackedDocument, extensions?: Extensions | null) => T =
  process.env.NODE_ENV === 'production' ? notCounted : counted;

function notCounted<T>(data: T): T {
  if (!hasWarned) console.warn('trackReads is in a production bundle, where it counts nothing.');
  hasWarned = true;
  return data;
}

function counted<T>(data: T, document: TrackedDocument, extensions?: Extensions | null): T {
  if (typeof data !== 'object' || data === null) return data;
  const source = sources.get(data) ?? data;
  const name = nameOf(document);
  const known = tracked.get(source) ?? [];
  const before = known.find((each) => each.name === name);
  if (before) return before.copy as T;
  const record = (documents[name] ??= { results: 0, fields: byName(), calls: byName() });
  record.results++;
  for (const { field, bytes } of callsOf(extensions)) record.calls[field] = (record.calls[field] ?? 0) + bytes;
  const copy = copyOf(source, record.fields, '');
  tracked.set(source, [...known, { name, copy }]);
  return copy as T;
}

/** What was read until now: write it to a file for `catalog-graphql check --reads`. */
export const readsReport = (): ReadsReport => ({ version: 1, documents });

/** Forgets what was read. */
export function clearReads(): void {
  documents = byName();
  tracked = new WeakMap();
}

/** Values of scalars that a client has parsed, such as a Date, stay what they are. */
function copyOf(value: unknown, fields: Record<string, FieldReads>, path: string): unknown {
  if (Array.isArray(value)) return value.map((item) => copyOf(item, fields, path));
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const copy = {};
  sources.set(copy, value);
  // The symbols and names with underscores by which clients find their records are no fields.
  for (const key of Reflect.ownKeys(value)) {
    const member = (value as Record<PropertyKey, unknown>)[key];
    if (typeof key === 'symbol' || (key.startsWith('__') && key !== '__typename'))
      Object.defineProperty(copy, key, {
        value: member,
        enumerable: Object.prototype.propertyIsEnumerable.call(value, key),
      });
    else if (member !== undefined) countReads(copy, key, member, fields, path === '' ? key : `${path}.${key}`);
  }
  return copy;
}

function countReads(
  copy: object,
  key: string,
  member: unknown,
  fields: Record<string, FieldReads>,
  path: string,
): void {
  const counts = (fields[path] ??= { received: 0, read: 0, bytes: 0 });
  counts.received++;
  counts.bytes += JSON.stringify({ [key]: member }).length - 1;
  let child: unknown;
  let isMade = false;
  Object.defineProperty(copy, key, {
    enumerable: true,
    get() {
      counts.read++;
      if (!isMade) child = copyOf(member, fields, path);
      isMade = true;
      return child;
    },
  });
}

function nameOf(document: TrackedDocument): string {
  if (typeof document === 'object' && 'params' in document) return document.params.name;
  if (typeof document === 'object' && 'definitions' in document) {
    const definitions = document.definitions as readonly { kind: string; name?: { value: string } }[];
    const own = definitions.find(({ kind }) => kind === 'OperationDefinition') ?? definitions[0];
    return own?.name?.value ?? '';
  }
  if (typeof document === 'object' && 'name' in document) return document.name;
  return /(?:query|mutation|subscription|fragment)\s+(\w+)/.exec(String(document))?.[1] ?? '';
}

function callsOf(extensions: Extensions | null | undefined): { field: string; bytes: number }[] {
  const { calls = [] } = (extensions?.upstream ?? {}) as { calls?: { field: string; bytes?: number }[] };
  return calls.map(({ field, bytes = 0 }) => ({ field: field.replace(/\.\d+(?=\.|$)/g, ''), bytes }));
}
