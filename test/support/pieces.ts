import type { GraphQLResponse } from './facade.ts';

/** A part of an incremental response, as of `deferSpec=20220824`. */
export interface IncrementalPart extends GraphQLResponse {
  incremental?: (GraphQLResponse & { path: (string | number)[]; items?: unknown[] | null })[];
  hasNext?: boolean;
}

/** Merges the parts as a client does. */
export function mergeParts([first, ...later]: readonly IncrementalPart[]): GraphQLResponse {
  const whole = { data: structuredClone(first?.data) as unknown };
  const errors = [...(first?.errors ?? [])];
  let { extensions } = first ?? {};
  for (const piece of later) {
    extensions = piece.extensions ?? extensions;
    for (const { path, data, items, errors: own } of piece.incremental ?? []) {
      errors.push(...(own ?? []));
      setAt(whole, ['data', ...path], items ? items[0] : data);
    }
  }
  return { ...whole, ...(errors.length ? { errors } : {}), ...(extensions ? { extensions } : {}) };
}

function setAt(into: unknown, path: readonly (string | number)[], value: unknown): void {
  const parent = path.slice(0, -1).reduce((at, key) => (at as Record<string, unknown>)[key], into) as Record<
    string,
    unknown
  >;
  const key = path[path.length - 1]!;
  parent[key] = mergeValues(parent[key], value);
}

/** Merges fields by name and items by position. */
function mergeValues(known: unknown, more: unknown): unknown {
  if (typeof known !== 'object' || known === null || typeof more !== 'object' || more === null)
    return more === undefined || more === null ? (known ?? more) : more;
  const whole = known as Record<string, unknown>;
  for (const [key, value] of Object.entries(more)) whole[key] = mergeValues(whole[key], value);
  return whole;
}

/** The parts of a `multipart/mixed` response or an event stream; a plain response is one part. */
export async function partsOf(response: Response): Promise<IncrementalPart[]> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json') && !type.includes('mixed')) return [JSON.parse(text) as IncrementalPart];
  const parts = type.startsWith('text/event-stream')
    ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []))
    : text.split(/\r\n--+\r?\n?/).flatMap((part) => (part.includes('{') ? [part.slice(part.indexOf('{'))] : []));
  return parts.map((part) => JSON.parse(part.slice(0, part.lastIndexOf('}') + 1)) as IncrementalPart);
}
