/** How records of a kind are requested by key, and what follows from that alone. */
import { type Endpoint, tiers } from './endpoint.ts';

export type UpstreamRecord = Record<string, unknown>;
export type MemberNames = readonly string[];

export interface RecordSource {
  readonly endpoint: Endpoint;
  readonly input: (key: string) => object;
  /** Every member that a record may have. */
  readonly members?: readonly string[];
  /** The record in a response that is not the record itself. */
  readonly read?: (response: never, key: string) => object | null;
  /** The key of a record; its `id` by default, null if it cannot be requested. */
  readonly keyOf?: (record: never) => string | null;
  /** The members that its key consists of; `id` by default. */
  readonly keyMembers?: readonly string[];
  /** Members that hold other records. They are large, so they are requested only if they are needed. */
  readonly embeds?: readonly string[];
}

/** Above this share of a record's members the whole record is requested: it can then be cached as a whole. */
const WHOLE_RECORD_SHARE = 0.85;

/** Whether to request the whole record: nearly all members are needed, and all that hold other records. */
export const wantsWhole = ({ members, embeds = [] }: RecordSource, needed: MemberNames): boolean =>
  members !== undefined &&
  needed.length > members.length * WHOLE_RECORD_SHARE &&
  embeds.every((member) => needed.includes(member));

/** Not every tier gets the endpoint, so a record may also be rejected individually. */
export const mayBeRefused = ({ endpoint }: RecordSource): boolean => endpoint.tiers.length < tiers.length;

/** False for members that only the facade has. */
export const isUpstreamMember = ({ members }: RecordSource, member: string): boolean =>
  members?.includes(member) ?? true;

const ID: readonly string[] = Object.freeze(['id']);

export const keyMembersOf = ({ keyMembers = ID }: RecordSource): readonly string[] => keyMembers;

/** A copy of the record in which reading one of these members throws, so that each field that shows it reports the error. */
export function withThrowingMembers(
  record: UpstreamRecord,
  members: MemberNames,
  errorOf: (member: string) => Error,
): UpstreamRecord {
  // Copy property descriptors: existing throwing getters are non-enumerable and a spread would drop them.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(record)) as UpstreamRecord;
  for (const member of members) {
    const get = () => {
      throw errorOf(member);
    };
    Object.defineProperty(copy, member, { configurable: true, enumerable: false, get });
  }
  return copy;
}
