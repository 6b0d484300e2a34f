/** How an update of a collection keeps what its input leaves out. */
import { type CollectionRecord, RATING_MAX, bookEndpoints, collectionStatuses } from '../../api/book.ts';
import type { Keeping } from '../../engine/fields/change.ts';
import { type PatchContext, keptAs, keptWord, sureNumber, sureText } from '../../engine/fields/patch.ts';
import { asInt, asObject, asText, texts } from '../../engine/values/decode.ts';
import { listIn } from '../../lib/objects.ts';
import { UpstreamRejection, isRateLimit } from '../../upstream/errors.ts';

/** The input of the whole collection. */
interface WholeCollection {
  status: (typeof collectionStatuses)[number];
  rating?: number | null | undefined;
  tags?: string[] | null | undefined;
  comment?: string | null | undefined;
  isPrivate: boolean;
}

/** The read that shows a public one, and the control. */
export const readsOfPrivacy = [bookEndpoints.collection, bookEndpoints.collections];

export const keptCollection: Keeping<WholeCollection, CollectionRecord> = {
  notes:
    'Without `isPrivate`, one or two calls more without your token find out who may see it; if that stays unknown, the code is PRESENT_VALUE_UNKNOWN.',
  read: bookEndpoints.collection,
  input: (id: string) => ({ id }),
  absent: 'COLLECTION_NOT_FOUND',
  columns: [
    {
      fields: ['status'],
      keep: ({ status }) => keptWord('status', status, collectionStatuses),
      shown: ({ status }) => status,
    },
    { fields: ['rating'], isClearable: true, keep: ratingOf, shown: (record) => ratingOf(record)?.rating ?? null },
    {
      fields: ['tags'],
      isClearable: true,
      keep: ({ tags }) =>
        (listIn(tags) ?? [tags]).some((tag) => sureText(tag) === undefined) ? undefined : { tags: texts.decode(tags) },
      shown: ({ tags }) => texts.decode(tags).sort(),
    },
    {
      fields: ['comment'],
      isClearable: true,
      keep: ({ comment }) => keptAs('comment', sureText(comment)),
      shown: ({ comment }) => comment || null,
    },
    {
      fields: ['isPrivate'],
      reads: readsOfPrivacy,
      keep: privacyOf,
      doubt: 'It cannot be found out who may see the collection now, so this is required.',
    },
  ],
};

/** The rating as it is given; of another maximum it is not certain. */
function ratingOf({ rating }: CollectionRecord) {
  const { value = rating, max = RATING_MAX } = asObject(rating);
  return keptAs('rating', asInt(max) === RATING_MAX ? sureNumber(value) : undefined);
}

/**
 * No read says who may see a collection, but nobody is shown a private one. A service that refuses all reads without a token would look the
 * same, so it counts only if the public part of the shelf is shown. The facade's own token is not used: it may be the caller's.
 */
export async function privacyOf(
  { id, user_id }: Pick<CollectionRecord, 'id' | 'user_id'>,
  { id: book, readAsNobody }: Pick<PatchContext, 'id' | 'readAsNobody'>,
): Promise<{ isPrivate: boolean } | undefined> {
  const user = asText(user_id);
  if (user === '') return undefined;
  try {
    const shown = await readAsNobody(bookEndpoints.collection, { id: book, user_id: user });
    if (shown) return shown.id === id ? { isPrivate: false } : undefined;
    const shelf = await readAsNobody(bookEndpoints.collections, { name: user, count: 1 });
    return shelf ? { isPrivate: true } : undefined;
  } catch (error) {
    if (error instanceof UpstreamRejection && !isRateLimit(error.details)) return undefined;
    throw error;
  }
}
