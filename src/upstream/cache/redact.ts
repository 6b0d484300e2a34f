/** Removes what belongs to one person from data that is shown to others. */
import type { Endpoint, Visibility } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';

type Json = Record<string, unknown>;

/**
 * Responses with the facade's own token are shown to everybody: returns them without the members of the person whose token it is, and with
 * null for the items that only they may see.
 */
export function redactOwner(endpoint: Endpoint, { isOwn }: Pick<Credential, 'isOwn'>, value: unknown): unknown {
  const { list, visibility } = endpoint;
  if (!isOwn || !isObject(value)) return value;
  const shown = withoutViewerMember(value, endpoint);
  const items = list === undefined ? undefined : shown[list];
  if (!visibility || !Array.isArray(items)) return shown;
  if (items.every((item) => isForEverybody(item, visibility))) return shown;
  // Null, so that the positions of the other items stay right.
  return { ...shown, [list!]: items.map((item: unknown) => (isForEverybody(item, visibility) ? item : null)) };
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** An item without the member is public: it was requested, and upstream leaves out defaults. */
const isForEverybody = (item: unknown, { member, everybody }: Visibility): boolean =>
  !isObject(item) || item[member] === undefined || item[member] === everybody || item[member] === String(everybody);

/**
 * Whether a response to a person may differ from the one to everybody: lists that may include the person's private items, and records with
 * the viewer's member, which they have unless `fields` leaves it out.
 */
export function mayHoldViewerData({ visibility, viewerMember }: Endpoint, query: string): boolean {
  if (visibility) return true;
  if (viewerMember === undefined) return false;
  const fields = /(?:^|&)fields=([^&]*)/.exec(query)?.[1];
  return fields === undefined || fields.split(',').includes(viewerMember);
}

/** The response without the member of the viewer, copied only if it has any: an upstream that ignores `fields` sends it unasked. */
export function withoutViewerMember(response: Json, { viewerMember, list }: Endpoint): Json {
  if (viewerMember === undefined) return response;
  const items = list === undefined ? undefined : response[list];
  if (!Array.isArray(items)) return without(response, viewerMember) as Json;
  if (!(viewerMember in response) && !items.some((item) => has(item, viewerMember))) return response;
  return { ...(without(response, viewerMember) as Json), [list!]: items.map((item) => without(item, viewerMember)) };
}

const has = (item: unknown, member: string): item is Json => isObject(item) && member in item;

function without(item: unknown, member: string): unknown {
  if (!has(item, member)) return item;
  const { [member]: _, ...rest } = item;
  return rest;
}
