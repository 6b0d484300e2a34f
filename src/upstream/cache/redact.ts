/** Removes what belongs to one person from data that is shown to others. */
import type { Endpoint, Visibility } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';

type Json = Record<string, unknown>;

/** The field of a book that belongs to the viewer. */
export const VIEWER_FIELD = 'current_user_collection';

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
  const shown = withoutViewerFields(value, list);
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
 * with the viewer field, which they have unless `fields` leaves it out.
 */
export function mayHoldViewerData({ list, path }: Endpoint, query: string): boolean {
  if (list === 'tags') return false;
  if (path.includes('annotation')) return true;
  const fields = /(?:^|&)fields=([^&]*)/.exec(query)?.[1];
  return fields === undefined || fields.split(',').includes(VIEWER_FIELD);
}

/** The response without viewer fields, copied only if it has any: an upstream that ignores `fields` sends them unasked. */
export function withoutViewerFields(response: Json, list: string | undefined): Json {
  const items = list === undefined ? undefined : response[list];
  if (!Array.isArray(items)) return withoutViewerField(response) as Json;
  if (!(VIEWER_FIELD in response) && !items.some(hasViewerField)) return response;
  return { ...(withoutViewerField(response) as Json), [list!]: items.map(withoutViewerField) };
}

const hasViewerField = (item: unknown): item is Json => isObject(item) && VIEWER_FIELD in item;

function withoutViewerField(item: unknown): unknown {
  if (!hasViewerField(item)) return item;
  const { [VIEWER_FIELD]: _, ...rest } = item;
  return rest;
}
