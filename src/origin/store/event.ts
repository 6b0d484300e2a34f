import { type Insertable, type SelectQueryBuilder, sql } from 'kysely';
import type { EventType } from '../../api/event.ts';
import { type Slice, Store, type StorePage } from './database.ts';
import type { Person } from './people.ts';
import type { Stored, Tables } from './schema.ts';
import { containsTerms } from './text-search.ts';

/** A stored event with its numbers of participants and of interested users. */
export type StoredEvent = Stored<'events'> & { participants: number; wishers: number };
export type Relation = Stored<'attendances'>['relation'];
/** What a user writes about an event. */
export type EventText = Pick<
  StoredEvent,
  'title' | 'type' | 'content' | 'invite_only' | 'can_invite' | 'starts' | 'ends' | 'starts_ms' | 'ends_ms' | 'place'
>;

/** Events and their participants. */
export class EventStore extends Store {
  byId(id: number): StoredEvent | undefined {
    return this.db.first(this.events().where('id', '=', id));
  }

  /** Returns the id. */
  insert(event: Insertable<Tables['events']>): number {
    const row = this.db.insert('events', event);
    this.setWords(row.id, row);
    return row.id;
  }

  update(id: number, event: EventText): void {
    this.db.run(this.query.updateTable('events').set(event).where('id', '=', id));
    this.removeWords(id);
    this.setWords(id, event);
  }

  delete(id: number): void {
    this.db.run(this.query.deleteFrom('events').where('id', '=', id));
    this.removeWords(id);
  }

  private removeWords(rowid: number): void {
    this.db.run(this.query.deleteFrom('events_fts').where('rowid', '=', rowid));
  }

  private setWords(rowid: number, { title, content, place }: EventText): void {
    const words = [title, content, place].join('\n');
    this.db.run(this.query.insertInto('events_fts').values({ rowid, words }));
  }

  /** Replaces the previous relation; joining twice changes nothing. */
  attend(event_id: number, person_id: string, relation: Relation): void {
    this.db.run(this.attendance(event_id, person_id).where('relation', '!=', relation));
    const row = this.query.insertInto('attendances').values({ event_id, person_id, relation });
    this.db.run(row.onConflict((c) => c.doNothing()));
  }

  leave(event_id: number, person_id: string, relation: Relation): void {
    this.db.run(this.attendance(event_id, person_id).where('relation', '=', relation));
  }

  private attendance(event_id: number, person_id: string) {
    const ofEvent = this.query.deleteFrom('attendances').where('event_id', '=', event_id);
    return ofEvent.where('person_id', '=', person_id);
  }

  /** The relation of a user to each event. */
  relationsOf(person: string, ids: readonly number[]): Map<number, Relation> {
    const attended = this.query.selectFrom('attendances').where('person_id', '=', person);
    const rows = this.db.all(attended.select(['event_id', 'relation']).where('event_id', 'in', ids));
    return new Map(rows.map((row) => [row.event_id, row.relation]));
  }

  /** In the order in which they joined. */
  people(event_id: number, relation: Relation, slice: Slice): StorePage<Person> {
    const people = this.query
      .selectFrom('attendances')
      .innerJoin('people', 'people.id', 'attendances.person_id')
      .selectAll('people')
      .where('event_id', '=', event_id)
      .where('relation', '=', relation);
    return this.db.page(people.orderBy('attendances.no'), slice);
  }

  /** The events of a user: all, those of one relation, or those that the user created. */
  ofPerson(person: string, relation: Relation | 'initiate' | 'any', slice: Slice): StorePage<StoredEvent> {
    const attended = this.query.selectFrom('attendances').select('event_id').where('person_id', '=', person);
    const found = this.events().where((row) => {
      const initiated = row('person_id', '=', person);
      if (relation === 'initiate') return initiated;
      if (relation === 'any') return row.or([initiated, row('id', 'in', attended)]);
      return row('id', 'in', attended.where('relation', '=', relation));
    });
    return this.db.page(found.orderBy('starts_ms', 'desc').orderBy('id'), slice);
  }

  ofCity(city_id: string, type: EventType | undefined, slice: Slice, now: number): StorePage<StoredEvent> {
    const found = this.events().where('city_id', '=', city_id);
    return this.upcomingFirst(type ? found.where('type', '=', type) : found, slice, now);
  }

  /** Events that contain every word; `city_id` undefined: in all cities. */
  search(q: string, city_id: string | undefined, slice: Slice, now: number): StorePage<StoredEvent> {
    const found = this.events().where(containsTerms('events_fts', 'id', q));
    return this.upcomingFirst(city_id === undefined ? found : found.where('city_id', '=', city_id), slice, now);
  }

  private events() {
    const attending = sql<number>`(select count(*) from attendances where event_id = events.id and relation = 'participate')`;
    const interested = sql<number>`(select count(*) from attendances where event_id = events.id and relation = 'wish')`;
    return this.query
      .selectFrom('events')
      .selectAll()
      .select(sql<number>`more_participants + ${attending}`.as('participants'))
      .select(sql<number>`more_wishers + ${interested}`.as('wishers'));
  }

  /** Not specified: the order. Upcoming events first, sorted by start; then past ones, the latest first. */
  private upcomingFirst(found: SelectQueryBuilder<Tables, 'events', StoredEvent>, slice: Slice, now: number) {
    const sorted = found
      .orderBy(sql`ends_ms < ${now}`)
      .orderBy(sql`case when ends_ms < ${now} then -starts_ms else starts_ms end`)
      .orderBy('id');
    return this.db.page(sorted, slice);
  }
}
