import { bookEndpoints } from '../../api/book.ts';
import type { Endpoint, Scope, Tier } from '../../api/endpoint.ts';
import { filmEndpoints } from '../../api/film.ts';
import { noteEndpoints } from '../../api/note.ts';
import type { Database } from './database/database.ts';

const demoTokens = [
  ['demo-alice', 'alice', 'advance'],
  ['demo-bob', 'bob', 'basic'],
  ['demo-carol', 'carol', 'premium'],
  ['demo-app', null, 'advance'],
] as const;

/** Adds or removes the fixed tokens. They are public, so they are accepted only if enabled. */
export function setDemoTokens(db: Database, enabled: boolean) {
  db.transaction(() => {
    db.remove('tokens', { demo: 1 });
    if (!enabled || db.find('meta', { key: 'filled' })?.value !== 'demo') return;
    for (const [token, uid, tier] of demoTokens) {
      const person = uid && db.find('people', { uid });
      const scopes = scopesOf(tier, uid !== null).join(' ');
      db.insert('tokens', { token, person_id: person?.id ?? null, tier, scopes, demo: 1 });
    }
  });
}

/** The scopes of all endpoints that are open to the tier. Writing and notes require a user. */
function scopesOf(tier: Tier, ofPerson: boolean): Scope[] {
  const rows: Endpoint[] = [
    ...Object.values(bookEndpoints),
    ...Object.values(noteEndpoints),
    ...Object.values(filmEndpoints),
  ];
  const scopes = rows.filter((row) => row.tiers.includes(tier)).flatMap((row) => row.scope ?? []);
  const personal: readonly Scope[] = ['book_basic_w', 'service_basic_common', 'community_basic_note'];
  return [...new Set(scopes)].filter((scope) => ofPerson || !personal.includes(scope));
}
