import type { UserRecord } from '../../api/user.ts';
import { address } from '../address.ts';
import { drawnUrl } from './drawn-pictures.ts';
import type { Database } from './database.ts';
import type { PersonRow } from './schema.ts';

export type PeopleStore = ReturnType<typeof createPeopleStore>;

/** Users, their friendships, and their tokens. */
export function createPeopleStore(db: Database) {
  const { query } = db;
  return {
    byId: (id: string) => db.first(query.selectFrom('people').selectAll().where('id', '=', id)),
    /** By id, or else by uid. */
    named: (name: string) =>
      db.first(
        query
          .selectFrom('people')
          .selectAll()
          .where((row) => row.or([row('id', '=', name), row('uid', '=', name)]))
          .orderBy((row) => row.case().when('id', '=', name).then(0).else(1).end()),
      ),
    byIds: (ids: readonly string[]) =>
      new Map(
        db
          .all(
            query
              .selectFrom('people')
              .selectAll()
              .where('id', 'in', [...new Set(ids)]),
          )
          .map((person) => [person.id, person]),
      ),
    areFriends: (person: string, other: string) =>
      db.first(
        query
          .selectFrom('friendships')
          .select('friend_id')
          .where('person_id', '=', person)
          .where('friend_id', '=', other),
      ) !== undefined,
    token: (token: string) => db.first(query.selectFrom('tokens').selectAll().where('token', '=', token)),
  };
}

/** A user as embedded in records of books and notes. */
export function userRecord(person: PersonRow): UserRecord {
  return {
    id: person.id,
    uid: person.uid,
    name: person.name,
    url: address(`/v2/user/${person.id}`),
    alt: webPage(person),
    avatar: avatarOf(person),
    large_avatar: drawnUrl('person', 'large', person.id),
    type: person.type,
    is_banned: person.is_banned === 1,
    is_suicide: false,
  };
}

export const avatarOf = ({ id }: PersonRow) => drawnUrl('person', 'small', id);

export const webPage = (person: PersonRow) => `https://www.catalog.example/people/${person.uid}/`;
