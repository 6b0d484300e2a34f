/**
 * `since`, the text in which a client keeps what it has of a list: a line of JSON, and the keys of the items, as short as they can be, because
 * it is sent with each call. Keys end in numbers, so it has the differences of the sorted numbers, two or three bytes an item.
 */
import { isPlainObject } from '../../lib/objects.ts';
import { badInput } from '../errors/to-client-error.ts';
import type { Pass, Progress } from './list-changes.ts';
import { decodeAnchor, encodeAnchor } from './newest-first.ts';

const VERSION = 2;
const PARTS: readonly Pass['part'][] = ['front', 'whole', 'again'];
/** Bounds what a `since` that somebody has made up can take. */
const KEYS_MAX = 50_000;
/** Characters of all `since` of an operation, with their keys: aliases may repeat one whose keys are a byte each. Fields read theirs twice. */
const CHARACTERS_MAX = 8_000_000;
const characters = new WeakMap<object, number>();

export function encodeSince(list: string, { known, from, hasGaps, pass }: Progress): string {
  const keys = [...known];
  const prefix = /^.{0,200}:/s.exec(keys[0] ?? '')?.[0] ?? '';
  const isNumbered = (key: string) => key.startsWith(prefix) && /^(?:0|[1-9]\d{0,14})$/.test(key.slice(prefix.length));
  const numbers = keys.filter(isNumbered).map((key) => Number(key.slice(prefix.length)));
  numbers.sort((one, other) => one - other);
  const others = keys.filter((key) => !isNumbered(key));
  const ordered = [...numbers.map((number) => prefix + String(number)), ...others];
  const head = { v: VERSION, list, from, hasGaps, prefix, size: numbers.length, others, pass: pass && headOf(pass) };
  const unmet = pass ? bitsOf(ordered.map((key) => pass.unmet.has(key))) : [];
  const bytes = Buffer.from([...differencesOf(numbers), ...unmet]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]).toString('base64url');
}

/** What the client has; nothing without a `since`. `operation`: one object for each. */
export const progressOf = ({ since }: { since?: string | null }, list: () => string, operation: object): Progress =>
  since == null ? { known: new Set(), from: null, hasGaps: false, pass: null } : decodeSince(list(), since, operation);

function take(operation: object, taken: number): void {
  const sum = taken + (characters.get(operation) ?? 0);
  if (sum > CHARACTERS_MAX) throw badInput('The `since` of the operation have too many keys.', { argument: 'since' });
  characters.set(operation, sum);
}

const headOf = ({ part, behind, unmet: _, ...rest }: Pass) => ({
  ...rest,
  part: PARTS.indexOf(part),
  behind: behind && encodeAnchor(behind),
});

function decodeSince(list: string, since: string, operation: object): Progress {
  take(operation, since.length);
  const bytes = Buffer.from(since, 'base64url');
  const end = bytes.indexOf('\n');
  const head = end < 0 ? undefined : parsed(bytes.subarray(0, end).toString());
  if (head?.v === VERSION && head.list !== list)
    throw badInput('This `since` belongs to another list.', { argument: 'since' });
  const progress = head?.v === VERSION ? readProgress(head, bytes.subarray(end + 1), operation) : undefined;
  if (!progress) throw badInput('This is not a `since` that a former call returned.', { argument: 'since' });
  return progress;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if a part is missing or wrong. */
function readProgress(
  { from, hasGaps, prefix, size, others, pass }: Record<string, unknown>,
  bytes: Buffer,
  operation: object,
): Progress | undefined {
  if (!isTime(from) || typeof prefix !== 'string' || !Array.isArray(others)) return undefined;
  if (!isCount(size) || size + others.length > KEYS_MAX) return undefined;
  take(operation, size * prefix.length + (size + others.length) * 8);
  const read = numbersIn(bytes, size);
  if (!read || !others.every((key) => typeof key === 'string')) return undefined;
  const ordered = [...read.numbers.map((number) => prefix + String(number)), ...others];
  const progress = { known: new Set(ordered), from, hasGaps: hasGaps === true, pass: null };
  if (pass === null) return progress;
  const unmet = new Set(ordered.filter((_, at) => ((bytes[read.end + (at >> 3)] ?? 0) >> (at & 7)) & 1));
  const current = isPlainObject(pass) ? passOf(pass, unmet) : undefined;
  return current && { ...progress, pass: current };
}

function passOf(
  { part, from, next, isDisturbed, begunAt, readAt, behind, position }: Record<string, unknown>,
  unmet: Set<string>,
): Pass | undefined {
  const anchor = typeof behind === 'string' ? decodeAnchor(behind) : null;
  const name = isCount(part) ? PARTS[part] : undefined;
  if (!name || anchor === undefined || !isTime(from) || !isTime(next) || typeof isDisturbed !== 'boolean')
    return undefined;
  if (typeof position !== 'number' || !isCount(position + 1) || position > 999_999_999) return undefined;
  if (!isCount(begunAt) || !isCount(readAt)) return undefined;
  return { part: name, from, next, isDisturbed, begunAt, readAt, behind: anchor, position, unmet };
}

const isTime = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(value));

/** A count, or a time in milliseconds: those of later years are no dates. */
const isCount = (of: unknown): of is number => Number.isInteger(of) && Number(of) >= 0 && Number(of) < 1e14;

/** Seven bits a byte, the lowest first; the eighth says that more follow. */
function differencesOf(sorted: readonly number[]): number[] {
  const bytes: number[] = [];
  let last = 0;
  for (const number of sorted) {
    let rest = number - last;
    last = number;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  }
  return bytes;
}

function numbersIn(bytes: Buffer, size: number): { numbers: number[]; end: number } | undefined {
  const numbers: number[] = [];
  let [last, at] = [0, 0];
  while (numbers.length < size) {
    let factor = 1;
    for (let isOpen = true; isOpen; at++, factor *= 128) {
      const byte = bytes[at];
      if (byte === undefined) return undefined;
      last += (byte % 128) * factor;
      isOpen = byte > 127;
    }
    if (!Number.isSafeInteger(last)) return undefined;
    numbers.push(last);
  }
  return { numbers, end: at };
}

function bitsOf(flags: readonly boolean[]): number[] {
  const bytes = new Array<number>(Math.ceil(flags.length / 8)).fill(0);
  for (const [at, isSet] of flags.entries()) if (isSet) bytes[at >> 3]! |= 1 << (at & 7);
  return bytes;
}
