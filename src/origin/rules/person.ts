import type { PeopleStore, Person } from '../store/people.ts';
import { Rejection } from './rejection.ts';

/** The person with this id or uid. */
export function personNamed({ people }: { people: PeopleStore }, name: string): Person {
  const person = people.named(name);
  if (!person) throw new Rejection(6008);
  return person;
}
