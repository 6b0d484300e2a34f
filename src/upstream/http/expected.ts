/** Checks that a response matches its request: status 200 may carry another record, an error, or anything else. */
import type { Repeat } from '../../api/endpoint.ts';
import type { ApiRequest } from './request.ts';

/**
 * True for the list, or for the record with the key that was requested. Endpoints whose response is not read accept anything but an error.
 */
export function isExpected({ endpoint, input }: ApiRequest, value: unknown): boolean {
  const { key, list, repeats } = endpoint;
  if (list === undefined && key.length === 0) return errorBodyCode(value) === undefined;
  if (typeof value !== 'object' || value === null) return false;
  const answer = value as Record<string, unknown>;
  if (list !== undefined) return Array.isArray(answer[list]);
  const params = input as Record<string, unknown>;
  if (!key.some((name) => idOf(answer[name]) !== '') && (isAskedFor(key, params) || errorBodyCode(value))) return false;
  return repeats.every((each) => isRepeated(each, answer, params));
}

/** False if `fields` leaves the key out. */
function isAskedFor(key: readonly string[], { fields }: Record<string, unknown>): boolean {
  if (typeof fields !== 'string') return true;
  const names = fields.split(',');
  return key.some((name) => names.includes(name));
}

function isRepeated({ member, param, as }: Repeat, answer: Record<string, unknown>, params: Record<string, unknown>) {
  const asked = params[param];
  const came = answer[member];
  if (asked === undefined || came === undefined || idOf(came) === idOf(asked)) return true;
  // A person requested by uid is returned with a numeric id. Two different numbers are two people.
  return as === 'person' && idOf(came) !== '' && !(isNumber(idOf(asked)) && isNumber(idOf(came)));
}

/** The id as text; '' for anything but a string or a number. */
const idOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** The code of an error body of the service; undefined for anything else. */
export function errorBodyCode(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, msg } = value as { code?: unknown; msg?: unknown };
  return typeof code === 'number' && typeof msg === 'string' ? code : undefined;
}
