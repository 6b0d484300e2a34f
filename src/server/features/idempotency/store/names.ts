/** Names of entries. Each begins with a hash of its owner, and a reader of the store learns nothing else from it. */
import { hash } from 'node:crypto';
import { remembering } from '../../../../lib/remember.ts';

export const hashOf = (text: string): string => hash('sha256', text, 'base64url');

/** Each write with a key has several names of the same few owners. */
const hashOfOwner = remembering((owner = '') => hashOf(owner));

/** The length keeps an owner apart from the beginning of a key. */
export const keyName = (owner: string, key: string): string =>
  `${hashOfOwner(owner)}.key.${hashOf(`key ${owner.length} ${owner}${key}`)}`;
export const isKeyName = (name: string): boolean => name.includes('.key.');
export const responseName = (key: string): string => key.replace('.key.', '.response.');
export const ownerName = (owner: string): string => `${hashOfOwner(owner)}.owner`;
export const slotName = (owner: string, slot: number): string => `${hashOfOwner(owner)}.${slot}`;
const targetName = (owner: string, target: string): string =>
  `${hashOfOwner(owner)}.target.${hashOf(`${owner} ${target}`)}`;
export const ownerOf = (name: string): string => name.slice(0, name.indexOf('.'));

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
