import { bookEndpoints } from '../../api/book.ts';
import type { Endpoint, Scope, Tier } from '../../api/endpoint.ts';
import { filmEndpoints } from '../../api/film.ts';
import { noteEndpoints } from '../../api/note.ts';
import type { Database } from './database.ts';

const demoTokens = [
  ['demo-alice', 'alice', 'advance'],
  ['demo-bob', 'bob', 'basic'],
  ['demo-carol', 'carol', 'premium'],
  ['demo-app', null, 'advance'],
] as const;

/** Puts the fixed tokens there or takes them away: everybody knows them, so they are honoured only when asked for. */
export function setDemoTokens(db: Database, wanted: boolean) {
  const { query } = db;
  db.transaction(() => {
    db.run(query.deleteFrom('tokens').where('demo', '=', 1));
    const filled = db.first(query.selectFrom('meta').select('value').where('key', '=', 'filled'));
    if (!wanted || filled?.value !== 'demo') return;
    for (const [token, uid, tier] of demoTokens) {
      const person = uid && db.first(query.selectFrom('people').select('id').where('uid', '=', uid));
      const scopes = scopesOf(tier, uid !== null).join(' ');
      db.run(query.insertInto('tokens').values({ token, person_id: person?.id ?? null, tier, scopes, demo: 1 }));
    }
  });
}

/** Every scope that an endpoint open to the tier asks for; those of books and notes beyond reading are a person's. */
export function scopesOf(tier: Tier, ofPerson: boolean): Scope[] {
  const rows: Endpoint[] = [
    ...Object.values(bookEndpoints),
    ...Object.values(noteEndpoints),
    ...Object.values(filmEndpoints),
  ];
  const scopes = rows.filter((row) => row.tiers.includes(tier)).flatMap((row) => row.scope ?? []);
  const personal: readonly Scope[] = ['book_basic_w', 'service_basic_common', 'community_basic_note'];
  return [...new Set(scopes)].filter((scope) => ofPerson || !personal.includes(scope));
}
