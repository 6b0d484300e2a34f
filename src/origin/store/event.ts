import { type SelectQueryBuilder, sql } from 'kysely';
import type { EventType } from '../../api/event.ts';
import { type Slice, Store, type StorePage } from './database/database.ts';
import type { Relation, Stored, Tables } from './database/schema.ts';
import { containsTerms } from './text-search.ts';

export class EventStore extends Store {
  /** The events of a user: all, those of one relation, or those that the user created. */
  ofPerson(person: string, relation: Relation | 'initiate' | 'any', slice: Slice): StorePage<Stored<'events'>> {
    const attended = this.query.selectFrom('attendances').select('event_id').where('person_id', '=', person);
    const found = this.events().where((row) => {
      const initiated = row('person_id', '=', person);
      if (relation === 'initiate') return initiated;
      if (relation === 'any') return row.or([initiated, row('id', 'in', attended)]);
      return row('id', 'in', attended.where('relation', '=', relation));
    });
    return this.db.page(found.orderBy('starts_ms', 'desc').orderBy('id'), slice);
  }

  ofCity(city_id: string, type: EventType | undefined, slice: Slice, now: number): StorePage<Stored<'events'>> {
    const found = this.events().where('city_id', '=', city_id);
    return this.upcomingFirst(type ? found.where('type', '=', type) : found, slice, now);
  }

  /** Events that contain every word; `city_id` undefined: in all cities. */
  search(q: string, city_id: string | undefined, slice: Slice, now: number): StorePage<Stored<'events'>> {
    const found = this.events().where(containsTerms('events_fts', 'id', q));
    return this.upcomingFirst(city_id === undefined ? found : found.where('city_id', '=', city_id), slice, now);
  }

  private events() {
    return this.query.selectFrom('events').selectAll();
  }

  /** Not specified: the order. Upcoming events first, sorted by start; then past ones, the latest first. */
  private upcomingFirst(found: SelectQueryBuilder<Tables, 'events', Stored<'events'>>, slice: Slice, now: number) {
    const sorted = found
      .orderBy(sql`ends_ms < ${now}`)
      .orderBy(sql`case when ends_ms < ${now} then -starts_ms else starts_ms end`)
      .orderBy('id');
    return this.db.page(sorted, slice);
  }
}
