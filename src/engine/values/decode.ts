/**
 * Decoders: how a member of a record becomes a value of the graph.
 *
 * They are tolerant, because the service returns numbers as texts, null for texts and empty strings in lists. A decoder never throws, so a
 * wrong member affects its own field only.
 */
import { isPlainObject, listIn } from '../../lib/objects.ts';
import { rfc3339Of } from './iso-time.ts';

/** When a nullable field is null, as the end of the sentence "Null if …"; false if only beside an error. */
export type NullCondition = string | false;

export interface Decoder<Shape> {
  /** The GraphQL type; with `list`, of the items. */
  readonly type: TypeOf<Shape>;
  readonly decode: (value: unknown) => Shape;
  readonly list?: boolean;
  readonly nullable: boolean;
  /** When `decode` returns null; false if it never does, and only a call or a tier leaves the field without a value. */
  readonly nullIf?: NullCondition;
  /** What it reads of the member: `uid` of `author`. */
  readonly inside?: string;
}

/** The name of a scalar, or the enum or object type of such values. */
type TypeOf<Shape> =
  string | { readonly $inferType: NonNullable<Shape> extends readonly (infer Item)[] ? Item : NonNullable<Shape> };

export const decoder = <Shape>(
  type: TypeOf<Shape>,
  decode: (value: unknown) => Shape,
  more: Partial<Pick<Decoder<Shape>, 'list' | 'nullIf' | 'nullable' | 'inside'>> = {},
): Decoder<Shape> => ({ type, decode, nullable: more.nullIf !== undefined, ...more });

export const orNull = <Shape>(
  type: TypeOf<Shape>,
  decode: (value: unknown) => Shape | null,
  nullIf: NullCondition = 'the service has none',
): Decoder<Shape | null> => decoder(type, decode, { nullIf });

/** A text, '' if there is none. */
export const text = decoder('String', oneText);
/** A text, '' if there is none, for a nullable field. */
export const textOrEmpty = decoder<string | null>('String', oneText, { nullIf: false });
/** An id, '' if there is none; nullable, because a person without a page has none and a field has one type in all nodes. */
export const idText = decoder<string | null>('ID', asText, { nullIf: false });
/** A text; '' and white space are null. */
export const textOrNull = orNull('String', (value) => {
  const text = oneText(value);
  return text.trim() === '' ? null : text;
});
/** A list of texts; null is an empty list, a single text a list of one, and empty texts are left out. */
export const texts = decoder('String', asTexts, { list: true });
/** A list of texts as `texts` reads it, for a nullable field. */
export const textsOrNull = decoder<string[] | null>('String', asTexts, { list: true, nullIf: false });
/** A word of a closed list; anything else is null. */
export const wordOrNull = <Word extends string>(type: TypeOf<Word>, words: readonly Word[]) =>
  orNull(
    type,
    (value) => words.find((word) => word === asText(value).trim()) ?? null,
    'the service returns another word',
  );
/** A count, 0 if there is none. */
export const count = decoder('Int', (value) => asInt(value) ?? 0);
/** A count; null if there is none. */
export const countOrNull = orNull('Int', asInt);
/** A number from 1 on; anything else is null. */
export const positiveOrNull = orNull('Int', (value) => ((asInt(value) ?? 0) > 0 ? asInt(value) : null));
/** A count, 0 if there is none, for a nullable field. */
export const countOrZero = decoder('Int', (value): number | null => asInt(value) ?? 0, { nullIf: false });
/** A flag, false if there is none. Atom writes yes and no. */
export const flag = decoder('Boolean', asFlag);
/** An http or https URL as it was written; `//a.example` is `https://a.example`; anything else is null. */
export const urlOrNull = orNull('URL', (value) => asUrl(oneText(value)));
/** The URL of a site. People often leave out the scheme: `www.example.com` is `http://www.example.com`. */
export const siteOrNull = orNull('URL', asSite);
/** The http and https URLs of a list. */
export const urlsOrNull = decoder<string[] | null>('URL', asUrls, { list: true, nullIf: false });
/** `YYYY-MM-DD HH:MM:SS`, returned with a T; anything else is null. */
export const localDateTime = orNull('LocalDateTime', asLocalDateTime);
/** RFC 3339 with an offset. Other forms (` +0800`, no seconds, `T24:00`) are rewritten; anything else is null. */
export const dateTime = orNull('DateTime', (value) => rfc3339Of(oneText(value).trim()));
export const timeOf = (value: unknown): number => Date.parse(dateTime.decode(value) ?? '');

export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  // `1e999` parses to Infinity. Integers beyond 2^53 would lose digits; those of the service come as texts.
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : '';
  return value === true ? 'true' : ''; // PHP writes false where it has nothing
}

/** The first text of a list where one text is due: a single text where a list is due is a list of one. */
function oneText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? (asTexts(value)[0] ?? '') : asText(value);
}

export function asTexts(value: unknown): string[] {
  return (listIn(value) ?? [value]).map(asText).filter((item) => item.trim() !== '');
}

/** An integer within GraphQL's Int, or null. */
export function asInt(value: unknown): number | null {
  const whole = Math.trunc(asFloat(value) ?? NaN);
  return whole >= -2147483648 && whole <= 2147483647 ? whole : null;
}

export function asFloat(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*[+-]?\d+(\.\d+)?\s*$/.test(value)) return null;
  return Number(value);
}

export function asFlag(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(yes|true|1)$/i.test(value.trim()));
}

export function asUrl(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const url = value.trim().replace(/^\/\//, 'https://');
  return /^https?:\/\/[^\s/?#"<>\\][^\s"<>]*$/i.test(url) ? url : null;
}

function asUrls(value: unknown): string[] {
  return asTexts(value).flatMap((item) => asUrl(item) ?? []);
}

/** A host name with a dot whose last label is not a number, optionally with port and path. */
const bareSite = /^(?:[\p{L}\p{N}_-]+\.)+(?=[^\s/?#:]*\p{L})[\p{L}\p{N}-]+(?::\d{1,5})?(?:[/?#][^\s"<>]*)?$/u;
/** Limits the length of texts, because the expression takes quadratic time. */
const SITE_MAX = 2_000;
function asSite(value: unknown): string | null {
  const site = oneText(value).trim();
  return asUrl(site) ?? (site.length <= SITE_MAX && bareSite.test(site) ? asUrl(`http://${site}`) : null);
}

const localForm = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)$/;
export function asLocalDateTime(value: unknown): string | null {
  const [, day, time] = localForm.exec(oneText(value).trim()) ?? [];
  if (!day || !time) return null;
  const stamp = `${day}T${time.length === 5 ? `${time}:00` : time}`;
  return isReal(stamp) ? stamp : null;
}

/** A day that each month has, which is checked without a `Date`: that takes longer than the rest of decoding. */
const usualForm = /^.{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]).(?:[01]\d|2[0-3])(?::[0-5]\d){2}/;
/** Whether `YYYY-MM-DDTHH:MM:SS` at the start of a text is a real time. `Date` reads the 31st of February as the 3rd of March. */
const isReal = (stamp: string): boolean =>
  usualForm.test(stamp) ||
  new Date(`${stamp.slice(0, 10)}T${stamp.slice(11, 19)}Z`).getUTCDate() === Number(stamp.slice(8, 10));

/** A member that should be an object, as one; anything else is empty. */
export const asObject = <T extends object>(value: T | null | undefined): Partial<T> =>
  isPlainObject(value) ? value : {};

/** The members of a list that are objects. */
export const asObjects = <T extends object>(value: readonly T[] | null | undefined): T[] =>
  ((listIn(value) ?? []) as T[]).filter(isPlainObject);

/** What the items of a page are read as: one that is no object is null, so that positions stay right. */
export const asItems = <T extends object, Shape>(value: readonly T[], read: (item: T) => Shape): (Shape | null)[] =>
  (listIn(value) ?? []).map((item) => (isPlainObject(item) ? read(item as T) : null));

/** The members of a list that are objects with an id. */
export const asRecords = <T extends { id?: unknown }>(value: readonly (T | null | undefined)[] | null | undefined) =>
  asObjects(value as readonly T[]).filter(({ id }) => isReadableId(id));

/** Whether an id can be returned exactly as the service wrote it. */
export const isReadableId = (id: unknown): boolean => asText(id) !== '';
