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

const rows: readonly Endpoint[] = [bookEndpoints, noteEndpoints, filmEndpoints].flatMap((table) =>
  Object.values<Endpoint>(table as never),
);

/** The scopes of all endpoints that are open to the tier. Only a token of a person has those that endpoints with a login require. */
export function scopesOf(tier: Tier, ofPerson: boolean, endpoints = rows): Scope[] {
  const scopesIn = (some: readonly Endpoint[]) => some.flatMap(({ scope }) => scope ?? []);
  const personal = scopesIn(endpoints.filter(({ login }) => login));
  const scopes = scopesIn(endpoints.filter(({ tiers }) => tiers.includes(tier)));
  return [...new Set(scopes)].filter((scope) => ofPerson || !personal.includes(scope));
}
