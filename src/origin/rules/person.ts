import type { PeopleStore, Person } from '../store/people.ts';
import { found } from './rejection.ts';

/** The person with this id or uid. */
export const personNamed = ({ people }: { people: PeopleStore }, name: string): Person =>
  found(people.named(name), 6008);
