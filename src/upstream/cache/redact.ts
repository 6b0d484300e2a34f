import type { Endpoint, Visibility } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';
import { redactViewerField } from './record-cache.ts';

/**
 * Removes private data of the person whose token is the facade's own: that person's collections and the items that only they may see.
 * Responses with that token are shown to everybody. Changes the value in place and returns it.
 */
export function redactOwner(
  { share, list, visibility }: Endpoint,
  { isOwn }: Pick<Credential, 'isOwn'>,
  value: unknown,
): unknown {
  if (!isOwn || share !== 'public' || !isObject(value)) return value;
  redactViewerField(value);
  const items = list === undefined ? undefined : value[list];
  if (!Array.isArray(items)) return value;
  for (const item of items) if (isObject(item)) redactViewerField(item);
  if (visibility) value[list!] = items.filter((item) => isForEverybody(item, visibility));
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** An item without the member is public: it was requested, and upstream leaves out defaults. */
const isForEverybody = (item: unknown, { member, everybody }: Visibility): boolean =>
  !isObject(item) || item[member] === undefined || item[member] === everybody;
