/** Removes what belongs to one person from data that is shown to others. */
import type { Endpoint, Visibility } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';

type Json = Record<string, unknown>;

/** The member of a book that belongs to the viewer. */
export const VIEWER_MEMBER = 'current_user_collection';

/**
 * Responses with the facade's own token are shown to everybody: returns them without the collections of the person whose token it is, and
 * with null for the items that only they may see.
 */
export function redactOwner(
  { share, list, visibility }: Endpoint,
  { isOwn }: Pick<Credential, 'isOwn'>,
  value: unknown,
): unknown {
  if (!isOwn || share !== 'public' || !isObject(value)) return value;
  const shown = withoutViewerMembers(value, list);
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
 * Whether a response to a person may differ from the one to everybody: annotations, which may include the person's private ones, and books
 * with the viewer's member, which they have unless `fields` leaves it out.
 */
export function mayHoldViewerData({ list, path }: Endpoint, query: string): boolean {
  if (list === 'tags') return false;
  if (path.includes('annotation')) return true;
  const fields = /(?:^|&)fields=([^&]*)/.exec(query)?.[1];
  return fields === undefined || fields.split(',').includes(VIEWER_MEMBER);
}

/** The response without the members of the viewer, copied only if it has any: an upstream that ignores `fields` sends them unasked. */
export function withoutViewerMembers(response: Json, list: string | undefined): Json {
  const items = list === undefined ? undefined : response[list];
  if (!Array.isArray(items)) return withoutViewerMember(response) as Json;
  if (!(VIEWER_MEMBER in response) && !items.some(hasViewerMember)) return response;
  return { ...(withoutViewerMember(response) as Json), [list!]: items.map(withoutViewerMember) };
}

const hasViewerMember = (item: unknown): item is Json => isObject(item) && VIEWER_MEMBER in item;

function withoutViewerMember(item: unknown): unknown {
  if (!hasViewerMember(item)) return item;
  const { [VIEWER_MEMBER]: _, ...rest } = item;
  return rest;
}
