/** The value of a field that tells what has changed in a list: made of a page of the list and of what the client has. */
import type { GraphQLObjectType } from 'graphql';
import { asText } from '../values/decode.ts';
import { globalId } from '../values/global-id.ts';
import { type Progress, type ToldChanges, changesIn } from '../values/list-changes.ts';
import { FIRST_MAX, type Page, statedCount } from '../values/paging.ts';
import { encodeSince } from '../values/since.ts';
import { typeRule } from '../plan/read-declarations.ts';

export function changesOf(
  page: Page<object>,
  items: readonly object[],
  progress: Progress,
  type: GraphQLObjectType,
): ToldChanges<object> {
  const { keyOf = (item: { id?: unknown }) => asText(item.id) || null } = typeRule(type).record!;
  const { start, total, hasNext, newestFirst, listId, behind, envelope } = page;
  const isShown = new Set(page.items);
  const shown = items.slice(0, page.items.length);
  // Of a page that shows nothing, all items may be hidden.
  const end = shown.length > 0 ? start + shown.length : Math.max(page.end, start + FIRST_MAX);
  const isLast = !hasNext && (shown.length > 0 || end >= (total ?? 0));
  const hasGap = shown.length < Math.min(statedCount(envelope, FIRST_MAX), FIRST_MAX, (total ?? 0) - start);
  const read = { items: shown, end, total, isLast, hasGap, behind };
  const told = changesIn<object>(read, progress, {
    order: newestFirst!,
    // The service may list what is no object.
    keyOf: (item: object | null) => (item && isShown.has(item) ? keyOf(item as never) : null),
  });
  return {
    ...page,
    items: told.changed,
    removedIds: told.removed.map((key) => globalId(type.name, key)),
    since: encodeSince(listId(), told.progress),
    hasMore: told.hasMore,
  };
}
