/** The entries that the store keeps: plain objects that a step changes in place. Members that mean nothing are absent. */

/** One entry of the store. */
export interface Entry {
  /** The requests that hold it or wait for it, in order: the first holds it. */
  places?: Place[] | undefined;
  key?: KeyEntry | undefined;
  owner?: OwnerEntry | undefined;
  /** What is known of a target of writes. */
  target?: TargetEntry | undefined;
  /** The person of the credential. */
  person?: string | undefined;
  response?: string | undefined;
  /** The key whose response has the slot. */
  slotOf?: string | undefined;
}

interface Place {
  readonly ticket: string;
  /** Unless it is renewed. */
  readonly until: number;
}

export interface KeyEntry {
  /** A hash, the same for requests of the key with the same document and variables. */
  readonly fingerprint: string;
  /** The ticket of its last run. */
  readonly run: string;
  readonly kind: Kept['kind'];
  /** The journal. */
  readonly text?: string | undefined;
  /** When the last write was recorded before it was sent. */
  readonly savedAt?: number | undefined;
  /** Where its owner counts it. */
  readonly bucket: number;
}

/** What is kept of a key after a run. */
export type Kept =
  /** The next request with the key is the first one. */
  | { kind: 'nothing' }
  /** The next request runs again, with this journal. */
  | { kind: 'journal'; text: string }
  | { kind: 'response'; text: string }
  /** Its writes are done, and the response is not kept. */
  | { kind: 'mark' };

/** A person, or a credential whose person is unknown. */
interface OwnerEntry {
  /** How many keys were claimed in each part of the time. */
  readonly keys: Record<string, number>;
  /** Until when each key is counted whose writes have an unknown outcome. */
  readonly open: Record<string, number>;
  /** The number of the next slot for a response: later ones take the slots of earlier ones. */
  slot: number;
  /** The credentials of a person that keys may have been claimed with. */
  credentials: string[];
}

/** A write to a target, or the deletion of one of its items. */
export interface TargetEvent {
  readonly at: number;
  /** The name of a write with a key. */
  readonly name?: string;
  /** The id of what it created. */
  readonly id?: string | undefined;
  /** A creation of unknown outcome: until when it may be carried out. */
  readonly until?: number;
  /** Equal for equal inputs. */
  readonly input?: string;
}

export interface TargetEntry {
  /** Creations, deletions, and writes of unknown outcome. */
  readonly events: TargetEvent[];
  /** When the last one of all others was made. */
  changedAt: number;
}

/** Changes what is known of a target. */
export type ChangeTarget = (target: Entry, now: number) => void;

export interface StoreLimits {
  /** Keys of one owner, with what came of them or without. */
  keys: number;
  /** Those whose writes have an unknown outcome. */
  open: number;
  /** Responses of one owner; of more, only that their writes are done. */
  kept: number;
  /** Characters of these responses. */
  keptCharacters: number;
}
export const STORE_LIMITS: StoreLimits = { keys: 10_000, open: 100, kept: 1_000, keptCharacters: 2_000_000 };
/** Characters of one response or journal. */
export const KEPT_CHARACTERS_MAX = 200_000;
/** Events of one target that are remembered. */
export const EVENTS_MAX = 100;
/** How long a place lasts if its process ends without leaving it. */
export const PLACE_MS = 3_000;

/** Who holds the entry. */
export const holderOf = ({ places }: Entry, now: number): string | undefined =>
  places?.find(({ until }) => until > now)?.ticket;

/** Takes a place, the last one, or renews it. */
export function takePlace(entry: Entry, place: Place, now: number): void {
  const places = (entry.places ?? []).filter(({ until }) => until > now);
  const at = places.findIndex(({ ticket }) => ticket === place.ticket);
  places[at < 0 ? places.length : at] = place;
  entry.places = places;
}

export function leavePlace(entry: Entry, ticket: string): void {
  const others = entry.places?.filter((each) => each.ticket !== ticket) ?? [];
  entry.places = others.length > 0 ? others : undefined;
}

/** Replaces what was known of the write with a key, if it is one. */
export function addEvent(entry: Entry, event: TargetEvent): void {
  const { events } = (entry.target ??= { events: [], changedAt: 0 });
  if (event.name !== undefined) removeEvent(entry, event.name);
  events.push(event);
  if (events.length > EVENTS_MAX) noteChangeAt(entry, events.shift()!.at);
}

/** Nothing else has to be known of a write to a record that is made. */
export function noteChangeAt(entry: Entry, at: number): void {
  const target = (entry.target ??= { events: [], changedAt: 0 });
  target.changedAt = Math.max(at, target.changedAt);
}

export function removeEvent({ target }: Entry, name: string): void {
  const at = target?.events.findIndex((each) => each.name === name) ?? -1;
  if (at >= 0) target!.events.splice(at, 1);
}

/** Keys are counted by parts of their time, so that the count of one part ends at once. */
const BUCKETS = 24;

export const bucketAt = (now: number, ttlMs: number): number => Math.floor(now / Math.max(1, ttlMs / BUCKETS));

/** What is known of an owner, without what is over. */
export function ownerIn(entry: Entry, now: number, ttlMs: number): OwnerEntry {
  const owner = (entry.owner ??= { keys: {}, open: {}, slot: 0, credentials: [] });
  const oldest = bucketAt(now, ttlMs) - BUCKETS;
  for (const bucket in owner.keys) if (Number(bucket) < oldest) delete owner.keys[bucket];
  for (const id in owner.open) if (owner.open[id]! <= now) delete owner.open[id];
  return owner;
}

/** The size of an entry in characters. */
export const sizeOf = ({ key, target, response }: Entry): number =>
  500 + 100 * (target?.events.length ?? 0) + (key?.text?.length ?? 0) + (response?.length ?? 0);

export function isEmpty(entry: Entry): boolean {
  for (const name in entry) if (entry[name as keyof Entry] !== undefined) return false;
  return true;
}
