/** Places: which request holds an entry, and which wait for it, in order. */
import { type Entry, type PlaceInLine, unlessEmpty } from './entries.ts';
import type { EntryTable } from './entry-table.ts';

/** How long a place lasts if its process ends without leaving it. */
export const PLACE_MS = 3_000;
const RENEWED_MS = 1_000;

/** The places of an entry that have not ended. */
export const placesIn = (entry: Entry | undefined, now: number): readonly PlaceInLine[] =>
  (entry?.places ?? []).filter(({ until }) => until > now);

export const holds = (entry: Entry | undefined, ticket: string, now: number): boolean =>
  placesIn(entry, now)[0]?.ticket === ticket;

/** The entry with this place: added as the last, or in place of the one with its ticket. */
export function withPlace(entry: Entry | undefined, place: PlaceInLine, now: number): Entry {
  const places = placesIn(entry, now);
  const at = places.findIndex(({ ticket }) => ticket === place.ticket);
  return { ...entry, places: at < 0 ? [...places, place] : places.with(at, place) };
}

/** The entry without the place; null if nothing is left. */
export function withoutPlace(entry: Entry | undefined, ticket: string): Entry | null {
  const others = entry?.places?.filter((each) => each.ticket !== ticket) ?? [];
  return unlessEmpty({ ...entry, places: others.length > 0 ? others : undefined });
}

/** Renews the places with a ticket. Returns a function that ends this. */
export function keepPlaces(table: EntryTable, names: readonly string[], ticket: string): () => void {
  if (!table.isShared) return () => undefined;
  const renew = () =>
    table.update(names, (draft, now) => {
      for (const name of names) {
        const entry = draft.get(name);
        const places = placesIn(entry, now);
        // A run whose place has ended goes on, unless another one has claimed its key.
        const isOwn =
          places.some((each) => each.ticket === ticket) || (places.length === 0 && entry?.key?.run === ticket);
        if (isOwn) draft.set(name, withPlace(entry, { ticket, until: now + PLACE_MS }, now));
      }
    });
  const timer = setInterval(() => void renew(), RENEWED_MS).unref();
  return () => clearInterval(timer);
}
