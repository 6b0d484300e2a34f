/** `since`, the text in which a client keeps what it has of a list, because it is sent with each call: JSON, compressed. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isPlainObject } from '../../lib/objects.ts';
import { badInput } from '../errors/to-client-error.ts';
import type { Pass, Progress } from './list-changes.ts';
import { decodeAnchor, encodeAnchor } from './newest-first.ts';

const VERSION = 3;
const PARTS: readonly unknown[] = ['front', 'whole', 'again'] satisfies Pass['part'][];
/** Bounds what a `since` that somebody has made up can take. */
const KEYS_MAX = 50_000;
const TEXT_MAX = 1_000_000;
/** Characters of all `since` of an operation, with their keys: aliases may repeat one. Fields read theirs twice. */
const CHARACTERS_MAX = 8_000_000;
const characters = new WeakMap<object, number>();

export function encodeSince(list: string, { pass, known, ...rest }: Progress): string {
  const unmet = pass && { ...pass, behind: pass.behind && encodeAnchor(pass.behind), unmet: packed(pass.unmet) };
  const text = JSON.stringify({ v: VERSION, list, ...rest, known: packed(known), pass: unmet });
  return deflateRawSync(text).toString('base64url');
}

const nothing = (): Progress => ({ known: new Set(), from: null, hasGaps: false, pass: null });

/** What the client has; nothing without a `since`. `operation`: one object for each. */
export const progressOf = ({ since }: { since?: string | null }, list: () => string, operation: object): Progress =>
  since == null ? nothing() : decodeSince(list(), since, operation);

function take(operation: object, taken: number): void {
  const sum = taken + (characters.get(operation) ?? 0);
  if (sum > CHARACTERS_MAX) throw badInput('The `since` of the operation have too many keys.', { argument: 'since' });
  characters.set(operation, sum);
}

function decodeSince(list: string, since: string, operation: object): Progress {
  const bytes = Buffer.from(since, 'base64url');
  if (bytes.subarray(0, 6).equals(FORMER)) return nothing();
  const given = textIn(bytes);
  take(operation, since.length + (given?.length ?? 0));
  const head = parsed(given ?? '');
  if (head?.v === VERSION && head.list !== list)
    throw badInput('This `since` belongs to another list.', { argument: 'since' });
  const progress = head?.v === VERSION ? progressIn(head, operation) : undefined;
  if (!progress) throw badInput('This is not a `since` that a former call returned.', { argument: 'since' });
  return progress;
}

/** How the form of a former release begins: its whole list is told again. */
const FORMER = Buffer.from('{"v":2');

function textIn(bytes: Buffer): string | undefined {
  try {
    return inflateRawSync(bytes, { maxOutputLength: TEXT_MAX }).toString();
  } catch {
    return undefined;
  }
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
function progressIn({ known, from, hasGaps, pass }: Record<string, unknown>, operation: object): Progress | undefined {
  const keys = unpacked(known, operation);
  if (!keys || !isTime(from)) return undefined;
  const current = isPlainObject(pass) ? passIn(pass, operation) : null;
  if (current === undefined || (pass !== null && !current)) return undefined;
  return { known: keys, from, hasGaps: hasGaps === true, pass: current };
}

function passIn(given: Record<string, unknown>, operation: object): Pass | undefined {
  const { part, from, next, isDisturbed, begunAt, readAt, behind, position } = given;
  const unmet = unpacked(given.unmet, operation);
  const anchor = typeof behind === 'string' ? decodeAnchor(behind) : null;
  if (!PARTS.includes(part) || !unmet || anchor === undefined || !isTime(from) || !isTime(next)) return undefined;
  if (typeof isDisturbed !== 'boolean' || !isCount(begunAt) || !isCount(readAt)) return undefined;
  if (typeof position !== 'number' || !isCount(position + 1) || position > 999_999_999) return undefined;
  return { part: part as Pass['part'], from, next, isDisturbed, begunAt, readAt, behind: anchor, position, unmet };
}

const isTime = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(value));

/** A count, or a time in milliseconds: those of later years are no dates. */
const isCount = (of: unknown): of is number => Number.isInteger(of) && Number(of) >= 0 && Number(of) < 1e14;

/** Keys end in numbers: the differences of the sorted numbers compress best. */
function packed(keys: ReadonlySet<string>): { prefix: string; steps: number[]; others: string[] } {
  const all = [...keys];
  const prefix = /^.{0,200}:/s.exec(all[0] ?? '')?.[0] ?? '';
  const isNumbered = (key: string) => key.startsWith(prefix) && /^(?:0|[1-9]\d{0,13})$/.test(key.slice(prefix.length));
  const numbers = all.filter(isNumbered).map((key) => Number(key.slice(prefix.length)));
  numbers.sort((one, other) => one - other);
  const steps = numbers.map((number, at) => number - (numbers[at - 1] ?? 0));
  return { prefix, steps, others: all.filter((key) => !isNumbered(key)) };
}

function unpacked(value: unknown, operation: object): Set<string> | undefined {
  const { prefix, steps, others } = isPlainObject(value) ? value : {};
  if (typeof prefix !== 'string' || !Array.isArray(steps) || !Array.isArray(others)) return undefined;
  if (steps.length + others.length > KEYS_MAX || !steps.every(isCount)) return undefined;
  if (!others.every((key) => typeof key === 'string')) return undefined;
  take(operation, steps.length * (prefix.length + 8));
  let number = 0;
  return new Set([...steps.map((step) => prefix + String((number += step))), ...others]);
}
