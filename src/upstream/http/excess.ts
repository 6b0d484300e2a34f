/**
 * Some lists come whole, whatever was asked for. What is too much of one is dropped; once a list is known to come so, it is not even
 * parsed: making objects of what nobody wants takes ten times as long as going over it.
 */
import type { Endpoint } from '../../api/endpoint.ts';
import { NESTING_MAX } from '../../lib/parse-json.ts';
import type { ApiRequest } from './request.ts';

const comeWhole = new WeakSet<Endpoint>();

/** Of what is too much, one item tells that there is more; undefined where nothing can be. */
function mostOf({ endpoint: { list }, input }: ApiRequest): number | undefined {
  const { count } = input as { count?: unknown };
  return list !== undefined && typeof count === 'number' ? count + 1 : undefined;
}

/** Takes out of an answer the items that are too many. */
export function dropExcess(asked: ApiRequest, answer: Record<string, unknown>): void {
  const most = mostOf(asked);
  const items = most === undefined ? undefined : answer[asked.endpoint.list!];
  if (!Array.isArray(items) || items.length <= most!) return;
  items.length = most!;
  comeWhole.add(asked.endpoint);
}

/** The same with an answer in JSON that is not parsed yet. What the parser would refuse it refuses as before. */
export function withoutExcess(asked: ApiRequest, body: Buffer): Buffer {
  const most = comeWhole.has(asked.endpoint) ? mostOf(asked) : undefined;
  return most === undefined ? body : (cut(body, asked.endpoint.list!, most) ?? body);
}

/** The text without the items of its list past so many; undefined where there are none, or where it is in doubt that it is JSON. */
export function cut(bytes: Buffer, list: string, most: number): Buffer | undefined {
  let at = skipBlank(bytes, 0);
  if (bytes[at] !== BRACE) return undefined;
  do {
    const start = skipBlank(bytes, at + 1);
    const end = endOfText(bytes, start);
    const colon = skipBlank(bytes, end);
    if (bytes[colon] !== COLON) return undefined;
    const value = skipBlank(bytes, colon + 1);
    if (bytes[value] === BRACKET && isName(bytes, start, end, list)) return cutAt(bytes, value, most);
    at = skipBlank(bytes, endOfValue(bytes, value, NESTING_MAX - 1));
  } while (bytes[at] === COMMA);
  return undefined;
}

const isName = (bytes: Buffer, start: number, end: number, name: string): boolean =>
  end - start === name.length + 2 && bytes.toString('latin1', start + 1, end - 1) === name;

/** What is left out is JSON for certain; the rest is the parser's to judge. */
function cutAt(bytes: Buffer, list: number, most: number): Buffer | undefined {
  let from = NOWHERE;
  let at = list;
  let count = 0;
  do {
    at = skipBlank(bytes, endOfValue(bytes, skipBlank(bytes, at + 1), NESTING_MAX - 2));
    if (++count === most) from = at;
  } while (bytes[at] === COMMA);
  return count > most && bytes[at] === BRACKET_END
    ? Buffer.concat([bytes.subarray(0, from), bytes.subarray(at)])
    : undefined;
}

const [QUOTE, BACKSLASH, COMMA, COLON, ZERO, LETTER_U] = [34, 92, 44, 58, 48, 117];
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [91, 93, 123, 125];
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [9, 10, 13, 32];

/** Where what is no JSON ends: behind any body. Nothing stands there, so what goes on from it ends there as well. */
const NOWHERE = 1 << 30;

/** What a value is that begins there, and goes no deeper: the place behind it. */
function endOfValue(bytes: Buffer, at: number, depth: number): number {
  const code = bytes[at];
  if (code === QUOTE) return endOfText(bytes, at);
  return code === BRACE || code === BRACKET ? endOfMembers(bytes, at, depth) : endOfWord(bytes, at);
}

/** Of an object or a list. */
function endOfMembers(bytes: Buffer, from: number, depth: number): number {
  if (depth === 0) return NOWHERE;
  const isObject = bytes[from] === BRACE;
  const last = isObject ? BRACE_END : BRACKET_END;
  let at = skipBlank(bytes, from + 1);
  if (bytes[at] === last) return at + 1;
  for (;;) {
    if (isObject) {
      at = skipBlank(bytes, endOfText(bytes, at));
      if (bytes[at] !== COLON) return NOWHERE;
      at = skipBlank(bytes, at + 1);
    }
    at = skipBlank(bytes, endOfValue(bytes, at, depth - 1));
    if (bytes[at] === last) return at + 1;
    if (bytes[at] !== COMMA) return NOWHERE;
    at = skipBlank(bytes, at + 1);
  }
}

function endOfText(bytes: Buffer, from: number): number {
  if (bytes[from] !== QUOTE) return NOWHERE;
  for (let at = from + 1; at < bytes.length; at++) {
    const code = bytes[at]!;
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return NOWHERE;
    if (code === BACKSLASH && !isEscape(bytes, ++at)) return NOWHERE;
  }
  return NOWHERE;
}

function isEscape(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== LETTER_U) return escapes.includes(bytes[at]!);
  for (let digit = at + 1; digit <= at + 4; digit++) if (!isHexadecimal(bytes[digit])) return false;
  return true;
}
const escapes: Buffer = Buffer.from('"\\/bfnrt');

/** A number, or one of the three words. */
function endOfWord(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  const isPlain = at > from && (bytes[from] !== ZERO || at === from + 1);
  if (isPlain && !isWordy(bytes[at])) return at;
  while (isWordy(bytes[at])) at++;
  return word.test(bytes.toString('latin1', from, at)) ? at : NOWHERE;
}
const word = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

const isBetween = (first: number, code: number | undefined, last: number): boolean =>
  code !== undefined && code >= first && code <= last;
const isDigit = (code: number | undefined): boolean => isBetween(48, code, 57);
const isHexadecimal = (code: number | undefined): boolean => isDigit(code) || isBetween(97, code! | 32, 102);
/** Digits, letters, and the signs of numbers. */
const isWordy = (code: number | undefined): boolean =>
  isDigit(code) || isBetween(97, code! | 32, 122) || (code !== undefined && signs.includes(code));
const signs: Buffer = Buffer.from('+-.');

function skipBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at++;
  return at;
}
const isBlank = (code: number | undefined): boolean =>
  code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;
