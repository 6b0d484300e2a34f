import type { UserRecord } from '../../api/user.ts';
import { address } from '../address.ts';
import { Store } from './database.ts';
import { drawnUrl } from './drawn-pictures.ts';
import type { Stored } from './schema.ts';

export type Person = Stored<'people'>;

/** Users, their friendships, and their tokens. */
export class PeopleStore extends Store {
  byId(id: string): Person | undefined {
    return this.byIds([id]).get(id);
  }

  byIds(ids: readonly string[]): Map<string, Person> {
    const people = this.db.all(this.query.selectFrom('people').selectAll().where('id', 'in', ids));
    return new Map(people.map((person) => [person.id, person]));
  }

  /** By id, or else by uid. */
  named(name: string): Person | undefined {
    const withUid = this.query.selectFrom('people').selectAll().where('uid', '=', name);
    return this.byId(name) ?? this.db.first(withUid);
  }

  areFriends(person: string, other: string): boolean {
    const friendship = this.query.selectFrom('friendships').selectAll();
    return this.db.first(friendship.where('person_id', '=', person).where('friend_id', '=', other)) !== undefined;
  }

  token(token: string): Stored<'tokens'> | undefined {
    return this.db.first(this.query.selectFrom('tokens').selectAll().where('token', '=', token));
  }
}

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
