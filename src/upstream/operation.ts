import type { Endpoint, Tier } from '../contract/endpoint.ts';

/** How the whole record of a kind is told by its key. */
export interface RecordSource {
  readonly ask: Endpoint;
  readonly input: (key: string) => object;
  /** Every member a record may have; absent where the endpoint takes no `fields`. */
  readonly members?: readonly string[];
  /** The tiers that get each member, where they differ. */
  readonly tiers?: Readonly<Record<string, readonly Tier[]>>;
  /** The record in an answer that is not the record itself. */
  readonly read?: (answer: never, key: string) => object | null;
  /** The key of a record at hand; its `id` by default, null where it has none to ask by. */
  readonly keyOf?: (record: never) => string | null;
}
