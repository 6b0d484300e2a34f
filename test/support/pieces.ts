import type { Shown } from './facade.ts';

/** One part of an answer in pieces, as `deferSpec=20220824` writes it. */
export interface Piece extends Shown {
  incremental?: (Shown & { path: (string | number)[]; items?: unknown[] | null })[];
  hasNext?: boolean;
}

/** The whole answer that a client makes of the pieces. */
export function merged([first, ...later]: readonly Piece[]): Shown {
  const whole = { data: structuredClone(first?.data) as unknown };
  const errors = [...(first?.errors ?? [])];
  let { extensions } = first ?? {};
  for (const piece of later) {
    extensions = piece.extensions ?? extensions;
    for (const { path, data, items, errors: own } of piece.incremental ?? []) {
      errors.push(...(own ?? []));
      put(whole, ['data', ...path], items ? items[0] : data);
    }
  }
  return { ...whole, ...(errors.length ? { errors } : {}), ...(extensions ? { extensions } : {}) };
}

function put(into: unknown, path: readonly (string | number)[], value: unknown): void {
  const holder = path.slice(0, -1).reduce((at, key) => (at as Record<string, unknown>)[key], into) as Record<
    string,
    unknown
  >;
  const key = path[path.length - 1]!;
  holder[key] = joined(holder[key], value);
}

/** Fields are put together, items by their place. */
function joined(known: unknown, more: unknown): unknown {
  if (typeof known !== 'object' || known === null || typeof more !== 'object' || more === null)
    return more === undefined || more === null ? (known ?? more) : more;
  const whole = known as Record<string, unknown>;
  for (const [key, value] of Object.entries(more)) whole[key] = joined(whole[key], value);
  return whole;
}

/** The pieces of a `multipart/mixed` or an event stream; of an answer in one piece, that. */
export async function piecesOf(response: Response): Promise<Piece[]> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json') && !type.includes('mixed')) return [JSON.parse(text) as Piece];
  const parts = type.startsWith('text/event-stream')
    ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []))
    : text.split(/\r\n--+\r?\n?/).flatMap((part) => (part.includes('{') ? [part.slice(part.indexOf('{'))] : []));
  return parts.map((part) => JSON.parse(part.slice(0, part.lastIndexOf('}') + 1)) as Piece);
}
