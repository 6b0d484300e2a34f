/** The items of a list in several variants: the first comes with the list, each other by one more call of the list (`plan/variants.ts`). */
import type { Path } from 'graphql/jsutils/Path.js';
import { withMembers } from '../../lib/objects.ts';
import { withValue } from '../../lib/promises.ts';
import { UpstreamFailure, detailsOf } from '../../upstream/errors.ts';
import { createApiRequest } from '../../api/api-request.ts';
import type { Context, Listing } from '../context.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import type { ListVariants } from '../plan/operation-plan.ts';
import { asObjects } from '../values/decode.ts';

/** The input of a list's call, with the variant that it is requested in. */
export const inVariant = (input: object, variants: ListVariants | undefined): object =>
  variants?.main === undefined ? input : withMembers(input, { [variants.param]: variants.main });

interface ListingWithVariants extends Listing {
  variants: ListVariants | undefined;
}
const listings = new WeakMap<object, ListingWithVariants>();

/** Notes the call that listed each item. */
export function listedBy(items: readonly unknown[], listing: ListingWithVariants): void {
  for (const item of items) if (typeof item === 'object' && item !== null) listings.set(item, listing);
}

export const listingOf = (item: object): Listing | undefined => listings.get(item);

/** The item in this variant, from the list that it came in; undefined where it was not listed, or its list takes no variants. */
export function itemInVariant(
  { variant }: FieldRule,
  item: Record<string, unknown>,
  args: object,
  members: readonly string[] | undefined,
  { upstream }: Context,
  path: Path,
): unknown {
  if (!variant) return undefined;
  const listing = listings.get(item);
  if (listing?.variants?.param !== variant.param) return undefined;
  const { endpoint, input, variants } = listing;
  const value = variant.of(args as never);
  if (value === variants.main) return item;
  const pending = upstream.responses.load(endpoint, withMembers(input, { [variants.param]: value }), members, path);
  return withValue(pending, (response) => {
    const items = asObjects((response as Record<string, unknown[]> | null)?.[endpoint.list!] as object[] | undefined);
    const found = items.find(({ id }: { id?: unknown }) => id === item.id);
    // The list has changed between its two calls.
    if (!found) {
      const details = detailsOf(createApiRequest(endpoint, input));
      throw new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', details, 'the list no longer has the item');
    }
    return found;
  });
}
