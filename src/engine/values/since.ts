/** `since`, the text in which a client keeps what it has of a list, because it is sent with each call: JSON, compressed. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { badInput } from '../errors/to-client-error.ts';
import { type Progress, nothingKnown } from './list-changes.ts';

const VERSION = 4;
/** Bounds what a `since` that somebody has made up can take. */
const TEXT_MAX = 1_000_000;
/** Characters of all `since` of an operation: aliases may repeat one. Fields read theirs twice. */
const CHARACTERS_MAX = 8_000_000;
const characters = new WeakMap<object, number>();

export function encodeSince(list: string, { known, unmet, ...rest }: Progress): string {
  // Sorted keys compress best.
  const text = JSON.stringify({ v: VERSION, list, ...rest, known: [...known].sort(), unmet: [...unmet].sort() });
  return deflateRawSync(text).toString('base64url');
}

/** What the client has; nothing without a `since`, or with one of a former release. `operation`: one object for each. */
export function progressOf({ since }: { since?: string | null }, list: () => string, operation: object): Progress {
  if (since == null) return nothingKnown();
  const text = textIn(Buffer.from(since, 'base64url'));
  const taken = text.length + (characters.get(operation) ?? 0);
  if (taken > CHARACTERS_MAX) throw badInput('The `since` of the operation have too many keys.', { argument: 'since' });
  characters.set(operation, taken);
  const { v, list: of, ...rest } = parsed(text);
  if (typeof v === 'number' && v < VERSION) return nothingKnown();
  if (v === VERSION && of !== list()) throw badInput('This `since` belongs to another list.', { argument: 'since' });
  const { known, unmet, from, next, settled, after } = rest;
  if (!isTexts(known) || !isTexts(unmet) || !isTexts([from, next, settled, after])) throw unreadable();
  // The other members are only compared.
  return { ...(rest as unknown as Progress), known: new Set(known), unmet: new Set(unmet) };
}

const unreadable = () => badInput('This is not a `since` that a former call returned.', { argument: 'since' });

/** A former release did not compress it. */
function textIn(bytes: Buffer): string {
  try {
    return inflateRawSync(bytes, { maxOutputLength: TEXT_MAX }).toString();
  } catch {
    return bytes.toString();
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    throw unreadable();
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
