/** Names of documents. Each begins with a hash of its owner, and a reader of the store learns nothing else from it. */
import { hash } from 'node:crypto';
import { remembering } from '../../../../lib/remember.ts';

export const hashOf = (text: string): string => hash('sha256', text, 'base64url');

/** Each write with a key has several names of the same few owners. */
const hashOfOwner = remembering((owner = '') => hashOf(owner));

const nameOf = (owner: string, what: string): string => `${hashOfOwner(owner)}.${hashOf(what)}`;

/** The length keeps an owner apart from the beginning of a key. */
export const keyName = (owner: string, key: string): string => nameOf(owner, `key ${owner.length} ${owner}${key}`);
const targetName = (owner: string, target: string): string => nameOf(owner, `${owner} ${target}`);
export const ownerName = (owner: string): string => `${hashOfOwner(owner)}.owner`;
export const slotName = (owner: string, slot: number): string => `${hashOfOwner(owner)}.${slot}`;

const PERSON = 'person ';
export const personOwner = (person: string): string => `${PERSON}${person}`;
export const personIn = (owners: readonly string[]): string | undefined =>
  owners.find((each) => each.startsWith(PERSON))?.slice(PERSON.length);
export const credentialOwner = (credential: string): string => `credential ${credential}`;

/** One target as its owners name it: what is written is known under the first name. */
export type Targets = readonly [string, ...string[]];

export const targetsOf = ([first, ...others]: Targets, target: string): Targets => [
  targetName(first, target),
  ...others.map((owner) => targetName(owner, target)),
];

/** The response of a key, in the process that could not store it: its slot may be another's by then. */
export const unstoredName = (id: string): string => `${id}.unstored`;
