/** Whether an answer is what was asked for. Any JSON may come with status 200: another record, an error, or nothing of use. */
import type { Repeat } from '../contract/endpoint.ts';
import type { Asked } from './wire.ts';

/** Whether an answer is the record, with its key and no other's, or the list; where it need not be read, whether it is no error. */
export function isExpected({ endpoint, input }: Asked, value: unknown): boolean {
  const { key, list, repeats } = endpoint;
  if (list === undefined && key.length === 0) return errorIn(value) === undefined;
  if (typeof value !== 'object' || value === null) return false;
  const answer = value as Record<string, unknown>;
  if (list !== undefined) return Array.isArray(answer[list]);
  const params = input as Record<string, unknown>;
  if (!key.some((name) => idOf(answer[name]) !== '') && (isAskedFor(key, params) || errorIn(value))) return false;
  return repeats.every((each) => isRepeated(each, answer, params));
}

/** False where `fields` leaves the key out. */
function isAskedFor(key: readonly string[], { fields }: Record<string, unknown>): boolean {
  if (typeof fields !== 'string') return true;
  const names = fields.split(',');
  return key.some((name) => names.includes(name));
}

function isRepeated({ member, param, as }: Repeat, answer: Record<string, unknown>, params: Record<string, unknown>) {
  const asked = params[param];
  const came = answer[member];
  if (asked === undefined || came === undefined || idOf(came) === idOf(asked)) return true;
  // A uid is answered by an id, which is a number: two numbers are two people.
  return as === 'person' && idOf(came) !== '' && !(isNumber(idOf(asked)) && isNumber(idOf(came)));
}

/** An id is a text or a number; '' for what is none. */
const idOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** The code of an error as the service writes it; undefined for anything else. */
export function errorIn(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, msg } = value as { code?: unknown; msg?: unknown };
  return typeof code === 'number' && typeof msg === 'string' ? code : undefined;
}
