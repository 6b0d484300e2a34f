import type { UserRecord } from '../../api/user.ts';
import { address } from '../address.ts';
import { drawnUrl } from '../store/drawn-pictures.ts';
import type { Person } from '../store/database/schema.ts';
import type { Call } from './call.ts';
import { found } from './rejection.ts';

/** The person with this id, or else with this uid. */
export const personNamed = ({ db }: Call, name: string): Person =>
  found(db.find('people', { id: name }) ?? db.find('people', { uid: name }), 6008);

/** The person that a row refers to; a foreign key guarantees that there is one. */
export const personOfRow = ({ db }: Call, { person_id }: { person_id: string }): Person =>
  db.find('people', { id: person_id })!;

/** A user as embedded in comments and in records of films. */
export function briefUser(person: Person) {
  const { id, uid, name } = person;
  return { id, uid, name, alt: webPage(person), avatar: avatarOf(person) };
}

/** A user as embedded in records of books. */
export function userRecord(person: Person): UserRecord {
  return {
    ...briefUser(person),
    url: address(`/v2/user/${person.id}`),
    large_avatar: drawnUrl('person', 'large', person.id),
    type: person.type,
    is_banned: person.is_banned === 1,
    is_suicide: false,
  };
}

export const avatarOf = ({ id }: Person) => drawnUrl('person', 'small', id);

export const webPage = (person: Person) => `https://www.catalog.example/people/${person.uid}/`;
