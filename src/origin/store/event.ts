import { type Insertable, type SelectQueryBuilder, type Selectable, sql } from 'kysely';
import type { EventType } from '../../api/event.ts';
import type { Database } from './database.ts';
import type { EventRow, PersonRow, Tables } from './schema.ts';
import { type SqliteStatement, prepareWrite } from './sqlite.ts';
import { searchTerms } from './text-search.ts';

export type StoredEvent = Selectable<EventRow>;
export type Relation = Tables['attendances']['relation'];
/** What a user writes about an event. */
export type EventText = Pick<
  EventRow,
  'title' | 'type' | 'content' | 'invite_only' | 'can_invite' | 'starts' | 'ends' | 'starts_ms' | 'ends_ms' | 'place'
>;
export interface FeedSpan {
  offset: number;
  limit: number;
}

/** Events and their participants. */
export class EventStore {
  private readonly db: Database;
  private readonly removeWords: SqliteStatement;
  private readonly addWords: SqliteStatement;

  constructor(db: Database) {
    this.db = db;
    this.removeWords = prepareWrite(db.raw, 'DELETE FROM events_fts WHERE rowid = ?');
    this.addWords = prepareWrite(db.raw, 'INSERT INTO events_fts (rowid, words) VALUES (?, ?)');
  }

  byId(id: number): StoredEvent | undefined {
    return this.db.first(this.db.query.selectFrom('events').selectAll().where('id', '=', id));
  }

  insert(event: Omit<Insertable<EventRow>, 'id'> & EventText): StoredEvent {
    const [row] = this.db.all(this.db.query.insertInto('events').values(event).returningAll());
    if (!row) throw new Error('the event was not stored');
    this.setWords(row.id, row);
    return row;
  }

  update(id: number, event: EventText): void {
    this.db.run(this.db.query.updateTable('events').set(event).where('id', '=', id));
    this.setWords(id, event);
  }

  delete(id: number): void {
    this.db.run(this.db.query.deleteFrom('events').where('id', '=', id));
    this.removeWords.run(id);
  }

  private setWords(id: number, event: EventText): void {
    this.removeWords.run(id);
    this.addWords.run(id, [event.title, event.content, event.place].join('\n'));
  }

  /** Replaces the previous relation; joining twice changes nothing. */
  attend(event_id: number, person_id: string, relation: Relation): void {
    this.db.run(this.attendance(event_id, person_id).where('relation', '!=', relation));
    const row = this.db.query.insertInto('attendances').values({ event_id, person_id, relation });
    this.db.run(row.onConflict((c) => c.doNothing()));
  }

  leave(event_id: number, person_id: string, relation: Relation): void {
    this.db.run(this.attendance(event_id, person_id).where('relation', '=', relation));
  }

  private attendance(event_id: number, person_id: string) {
    const ofEvent = this.db.query.deleteFrom('attendances').where('event_id', '=', event_id);
    return ofEvent.where('person_id', '=', person_id);
  }

  /** The number of participants and of interested users of each event, of those that are stored as users. */
  headcounts(ids: readonly number[]): Map<number, Record<Relation, number>> {
    const counts = new Map(ids.map((id) => [id, { participate: 0, wish: 0 }]));
    const rows = this.db.query
      .selectFrom('attendances')
      .select(['event_id', 'relation', (row) => row.fn.countAll<number>().as('total')])
      .where('event_id', 'in', ids)
      .groupBy(['event_id', 'relation']);
    for (const { event_id, relation, total } of this.db.all(rows)) {
      const of = counts.get(event_id);
      if (of) of[relation] = total;
    }
    return counts;
  }

  /** The relation of a user to each event. */
  relationsOf(person: string, ids: readonly number[]): Map<number, Relation> {
    const attended = this.db.query.selectFrom('attendances').where('person_id', '=', person);
    const rows = this.db.all(attended.select(['event_id', 'relation']).where('event_id', 'in', ids));
    return new Map(rows.map((row) => [row.event_id, row.relation]));
  }

  /** In the order in which they joined. */
  people(event_id: number, relation: Relation, { offset, limit }: FeedSpan): { rows: PersonRow[]; total: number } {
    const attendances = this.db.query.selectFrom('attendances');
    const all = attendances.where('event_id', '=', event_id).where('relation', '=', relation);
    const rows = all
      .innerJoin('people', 'people.id', 'attendances.person_id')
      .selectAll('people')
      .orderBy('attendances.no')
      .limit(limit)
      .offset(offset);
    return { rows: this.db.all(rows), total: this.db.count(all) };
  }

  /** The events of a user: all, those of one relation, or those that the user created. */
  ofPerson(person: string, relation: Relation | 'initiate' | 'any', span: FeedSpan) {
    const attended = this.db.query.selectFrom('attendances').select('event_id').where('person_id', '=', person);
    const found = this.db.query.selectFrom('events').where((row) => {
      const initiated = row('person_id', '=', person);
      if (relation === 'initiate') return initiated;
      if (relation === 'any') return row.or([initiated, row('id', 'in', attended)]);
      return row('id', 'in', attended.where('relation', '=', relation));
    });
    return this.page(found, span);
  }

  ofCity(city_id: string, type: EventType | undefined, span: FeedSpan, now: number) {
    const found = this.db.query.selectFrom('events').where('city_id', '=', city_id);
    return this.page(type ? found.where('type', '=', type) : found, span, now);
  }

  /** Events that contain every word; `city_id` undefined: in all cities. */
  search(q: string, city_id: string | undefined, span: FeedSpan, now: number) {
    const { match, like } = searchTerms(q);
    let found: SelectQueryBuilder<Tables, 'events', object> = this.db.query.selectFrom('events');
    if (city_id !== undefined) found = found.where('city_id', '=', city_id);
    if (match) found = found.where(sql<boolean>`id in (select rowid from events_fts where events_fts match ${match})`);
    for (const pattern of like) {
      found = found.where(sql<boolean>`id in (select rowid from events_fts where words like ${pattern} escape '\\')`);
    }
    return this.page(found, span, now);
  }

  private page(found: SelectQueryBuilder<Tables, 'events', object>, { offset, limit }: FeedSpan, now?: number) {
    const all = found.selectAll('events');
    // Not specified: the order. Upcoming events first, sorted by start; then past ones, the latest first.
    const ordered =
      now === undefined
        ? all.orderBy('starts_ms', 'desc')
        : all
            .orderBy(sql`ends_ms < ${now}`)
            .orderBy(sql`case when ends_ms < ${now} then -starts_ms else starts_ms end`);
    return { rows: this.db.all(ordered.orderBy('id').limit(limit).offset(offset)), total: this.db.count(found) };
  }
}
