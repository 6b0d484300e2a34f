/** How an update of a collection keeps what its input leaves out, and whether an entry of a shelf is private, which no read says. */
import { type CollectionRecord, RATING_MAX, bookEndpoints, collectionStatuses } from '../../api/book.ts';
import type { ListWindow } from '../../api/api-request.ts';
import type { AnswerOf } from '../../api/endpoint.ts';
import type { Listing } from '../../engine/context.ts';
import type { DescribedPatch } from '../../engine/fields/change.ts';
import { column, keptAs, sureNumber, sureText, sureWord } from '../../engine/fields/patch.ts';
import { asInt, asObject, asObjects, asText, localDateTime, texts } from '../../engine/values/decode.ts';
import { FIRST_MAX } from '../../engine/values/paging.ts';
import { listIn } from '../../lib/objects.ts';
import { UpstreamRejection, isRateLimit } from '../../upstream/errors.ts';
import type { ReadRecord } from '../../upstream/write-guard.ts';

/** The input of the whole collection. */
interface WholeCollection {
  status: (typeof collectionStatuses)[number];
  rating?: number | null | undefined;
  tags?: string[] | null | undefined;
  comment?: string | null | undefined;
  isPrivate: boolean;
}

/** What tells who may see an entry. */
export const readsOfPrivacy = { record: bookEndpoints.collection, list: bookEndpoints.collections };

export const collectionPatch: DescribedPatch<WholeCollection, CollectionRecord> = {
  notes:
    'Without `isPrivate`, one or two calls more without your token find out who may see it; if that stays unknown, the code is PRESENT_VALUE_UNKNOWN.',
  read: bookEndpoints.collection,
  input: (id: string) => ({ id }),
  owner: ({ user_id }) => user_id,
  absent: 'COLLECTION_NOT_FOUND',
  columns: [
    column('status', 'status', sureWord(collectionStatuses)),
    { fields: ['rating'], isClearable: true, keep: ratingOf, shown: (record) => ratingOf(record)?.rating ?? null },
    {
      fields: ['tags'],
      isClearable: true,
      keep: ({ tags }) =>
        (listIn(tags) ?? [tags]).some((tag) => sureText(tag) === undefined) ? undefined : { tags: texts.decode(tags) },
      shown: ({ tags }) => texts.decode(tags).sort(),
      written: ({ tags }) => [...new Set(tags)].sort(),
    },
    column('comment', 'comment', sureText, { isClearable: true }),
    {
      fields: ['isPrivate'],
      reads: Object.values(readsOfPrivacy),
      keep: async (shown, { id, readAsNobody }) =>
        keptAs('isPrivate', await isPrivateEntry({ ...shown, book_id: id }, readAsNobody, 'last')),
      doubt: 'It cannot be found out who may see the collection now, so this is required.',
    },
  ],
};

/** The rating as it is given; of another maximum it is not certain. */
function ratingOf({ rating }: CollectionRecord) {
  const { value = rating, max = RATING_MAX } = asObject(rating);
  return keptAs('rating', asInt(max) === RATING_MAX ? sureNumber(value) : undefined);
}

type Entry = Pick<CollectionRecord, 'id' | 'user_id' | 'book_id' | 'updated'>;

/**
 * Whether nobody but its owner is shown an entry; undefined if that cannot be found out. No read says it, but the public shelf tells it of all
 * entries within it, and the entry by itself of one. A service that refuses all reads without a token would look as if everything were
 * private, so it counts only if the shelf is shown. The facade's own token is not used: it may be the caller's.
 */
export async function isPrivateEntry(
  entry: Entry,
  readAsNobody: ReadRecord,
  shelfIsRead: 'first' | 'last',
  listing?: Listing,
): Promise<boolean | undefined> {
  const [user_id, id] = [asText(entry.user_id), asText(entry.book_id)];
  if (user_id === '') return undefined;
  const within = { ...listing?.input, name: user_id, ...partWith(listing?.input) };
  const readShelf = () => readAsNobody(bookEndpoints.collections, within, SHOWN);
  try {
    const shelf = shelfIsRead === 'first' && (await readShelf());
    const isPrivate = shelf ? privacyShownBy(shelf, entry) : undefined;
    if (isPrivate !== undefined) return isPrivate;
    const shown = await readAsNobody(bookEndpoints.collection, { id, user_id }, SHOWN);
    if (shown) return shown.id === entry.id ? false : undefined;
    return (await readShelf()) ? true : undefined;
  } catch (error) {
    if (error instanceof UpstreamRejection && !isRateLimit(error.details)) return undefined;
    throw error;
  }
}

const SHOWN = ['book_id', 'id', 'updated'] as const;

/** As much as one request shows, with the page in its middle: the public shelf lacks entries before it. */
function partWith(page: Partial<ListWindow> = {}): ListWindow {
  const { start = 0, count = FIRST_MAX } = page;
  return { start: Math.max(0, start - Math.floor((FIRST_MAX - count) / 2)), count: FIRST_MAX };
}

/** Whether a part of the public shelf lacks the entry; undefined if the entry may be outside of the part. */
function privacyShownBy(
  part: AnswerOf<typeof bookEndpoints.collections>,
  { id, book_id, updated }: Entry,
): boolean | undefined {
  const [start, total] = [asInt(part.start) ?? NaN, asInt(part.total) ?? NaN];
  const entries = asObjects(part.collections);
  const shown = entries.find((each) => asText(each.book_id) === asText(book_id));
  if (shown) return shown.id === id ? false : undefined;
  const end = start + entries.length;
  if (part.next_start !== undefined && part.next_start !== end) return undefined; // it lacks others too
  const [first, time, last] = [entries[0], { updated }, entries.at(-1)].map((each) =>
    localDateTime.decode(each?.updated),
  );
  const isWithin = (start === 0 || (time && first && first > time)) && (end >= total || (last && time && last < time));
  return isWithin ? true : undefined;
}
