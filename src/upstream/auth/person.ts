/** Whose token it is: no endpoint returns that, but some responses contain the caller. */
import type { ApiRequest } from '../http/request.ts';
import type { Credential } from './credentials.ts';

/** Reads the member of a response that is the caller, or contains the id of the caller. */
export function learnPerson(credential: Credential, { endpoint, input }: ApiRequest, value: unknown): void {
  const { caller, list } = endpoint;
  // The collection of another person is requested with that person's id.
  if (caller === undefined || credential.isOwn || (input as { user_id?: unknown }).user_id !== undefined) return;
  const records: unknown[] = list === undefined ? [value] : asList(memberOf(value, list));
  const found = records.map((record) => memberOf(record, caller)).find((member) => member !== undefined);
  const id = textOf(typeof found === 'object' ? (memberOf(found, 'user_id') ?? memberOf(found, 'id')) : found);
  if (!id || memberOf(found, 'type') === 'site') return;
  const known = credential.person?.id === id ? credential.person : undefined;
  const uid = textOf(memberOf(found, 'uid')) ?? known?.uid;
  const name = textOf(memberOf(found, 'name')) ?? known?.name;
  credential.person = { id, ...(uid === undefined ? {} : { uid }), ...(name === undefined ? {} : { name }) };
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
/** Longer texts are ignored. */
const TEXT_MAX = 500;
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return text !== '' && text.length <= TEXT_MAX ? text : undefined;
}
