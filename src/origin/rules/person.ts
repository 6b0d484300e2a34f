import type { PeopleStore } from '../store/people.ts';
import type { PersonRow } from '../store/schema.ts';
import { Rejection } from './rejection.ts';

/** The person with this id or uid. */
export function personNamed(people: PeopleStore, name: string): PersonRow {
  const person = people.named(name);
  if (!person) throw new Rejection(6008);
  return person;
}
