/**
 * The origin as the service. The facade's requests go to its HTTP server over a copy of the demo database. The reference calls the rules of
 * the origin over the same file: it has neither its server nor its Atom documents, and computes pages and totals from whole lists.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request as send } from 'undici';
import type { Endpoint } from '../../src/api/endpoint.ts';
import type { AtomPerson, EventRecord } from '../../src/api/event.ts';
import { serviceErrors } from '../../src/api/errors.ts';
import { serviceHeaders } from '../../src/api/service-headers.ts';
import { createAccess } from '../../src/origin/access.ts';
import { withAddress } from '../../src/origin/address.ts';
import { routes } from '../../src/origin/routes.ts';
import type { Call } from '../../src/origin/rules/call.ts';
import { avatarOf, userRecord, webPage } from '../../src/origin/rules/person.ts';
import { Rejection } from '../../src/origin/rules/rejection.ts';
import { openOrigin } from '../../src/origin/server.ts';
import { Database, openDatabase } from '../../src/origin/store/database/database.ts';
import { createPictureStore } from '../../src/origin/store/pictures.ts';
import { fillOnce } from '../../src/origin/store/seed/seed.ts';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { type Stores, createStores } from '../../src/origin/store/stores.ts';
import { setDemoTokens } from '../../src/origin/store/tokens.ts';
import { dataFolder } from '../support/data-folder.ts';
import { OWN_TOKEN, type Settings } from './product.ts';
import type { Fetch, Service, ServiceRequest } from './service.ts';
import { type Response_, routeOf } from './upstreams.ts';
import { type Ids, people, secretOf, tokenOf } from './world.ts';

/** The time in all cases: demo data, and what is written, depend on it. */
const NOW = Date.UTC(2026, 5, 7, 4, 5, 6);
const PUBLIC_URL = 'http://origin.example';

/** Stops the clock, which stores and facade read; returns a function that lets it go on. */
function stopClock(): () => void {
  const { now } = Date;
  Date.now = () => NOW;
  return () => void (Date.now = now);
}

/** The sender of a token that is of no person. */
export const APP = 'app';

interface Template {
  directory: string;
  file: string;
  ids: Ids;
}
let made: Template | undefined;
let opened = 0;

/** The demo database with the tokens of the oracle, made once a run. */
function template(): Template {
  if (made) return made;
  const directory = mkdtempSync(join(dataFolder(), 'oracle-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const goOn = stopClock();
  const db = openDatabase(directory);
  try {
    fillOnce(db, 'demo');
    setDemoTokens(db, true);
    const ids = idsIn(db);
    for (const person of Object.keys(people)) prepare(db, person, ids.person[person]!);
    const ofApp = `SELECT ?, person_id, tier, scopes, 0 FROM tokens WHERE person_id IS NULL LIMIT 1`;
    db.raw.prepare(`INSERT INTO tokens ${ofApp}`).all(tokenOf(APP));
    db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    made = { directory, file: join(directory, 'origin.db'), ids };
    return made;
  } finally {
    db.close();
    goOn();
  }
}

export const originIds = (): Ids => template().ids;

/** Gives a person the token of the oracle, and marks what only this person may read. */
function prepare(db: Database, person: string, id: string): void {
  addToken(db, tokenOf(person), id, people[person]!);
  const mark = secretOf(person);
  for (const [table, text, condition] of [
    ['collections', 'comment', 'private = 1'],
    ['annotations', 'content', 'private = 1'],
    ['notes', 'title', "privacy = 'private'"],
  ])
    db.raw
      .prepare(`UPDATE ${table} SET ${text} = ? || ${text} WHERE person_id = ? AND ${condition}`)
      .all(`${mark} `, id);
}

/** With the scopes of the demo token of that tier. */
function addToken(db: Database, token: string, person: string, tier: string): void {
  const scopes = 'SELECT scopes FROM tokens WHERE tier = ? AND person_id IS NOT NULL LIMIT 1';
  db.raw.prepare(`INSERT INTO tokens VALUES (?, ?, ?, (${scopes}), 0)`).all(token, person, tier, tier);
}

function idsIn(db: Database): Ids {
  const all = (sql: string, ...values: unknown[]): string[] =>
    db.raw
      .prepare(sql)
      .all(...values)
      .map((row) => String(Object.values(row as object)[0]));
  const person = Object.fromEntries(
    Object.keys(people).map((name) => [name, all('SELECT id FROM people WHERE uid = ?', name)[0]!]),
  );
  const { alice = '', bob = '', carol = '' } = person;
  /** The first of each, without repetition. */
  const some = (...lists: string[][]): string[] => [...new Set(lists.flat())];
  const book = some(
    all('SELECT book_id FROM annotations GROUP BY book_id ORDER BY count(*) DESC LIMIT 1'),
    ...[alice, bob, carol].map((id) => all('SELECT book_id FROM collections WHERE person_id = ? LIMIT 1', id)),
    all('SELECT id FROM books WHERE series_id IS NOT NULL ORDER BY no LIMIT 1'),
  );
  const annotations = 'SELECT id FROM annotations WHERE person_id = ? AND private = ? ORDER BY id LIMIT 1';
  const notes = 'SELECT id FROM notes WHERE person_id = ? AND privacy = ? ORDER BY id LIMIT 1';
  const note = some(
    ...['public', 'private', 'friend'].map((privacy) => all(notes, alice, privacy)),
    all(notes, bob, 'public'),
  );
  const others = all("SELECT id FROM people WHERE type = 'user' AND id NOT IN (?, ?, ?) LIMIT 1", alice, bob, carol);
  const subject = all("SELECT subject_id FROM charts WHERE chart = 'top250' ORDER BY position LIMIT 3");
  const tv = all("SELECT id FROM subjects WHERE subtype = 'tv' LIMIT 1");
  return {
    book: [...book, '1'],
    subject: [...some(subject, tv), '104'],
    celebrity: [
      ...all(
        `SELECT DISTINCT celebrity_id FROM credits WHERE celebrity_id IS NOT NULL AND subject_id = ? LIMIT 3`,
        subject[0],
      ),
      '204',
    ],
    series: [...all('SELECT id FROM series ORDER BY id LIMIT 2'), '34'],
    annotation: [
      ...some(
        all(annotations, alice, 0),
        all(annotations, alice, 1),
        all(annotations, bob, 0),
        all(annotations, bob, 1),
      ),
      '404',
    ],
    note: [...note, '504'],
    event: [
      ...some(
        all('SELECT event_id FROM attendances GROUP BY event_id ORDER BY count(*) DESC LIMIT 1'),
        all('SELECT id FROM events WHERE person_id = ? ORDER BY id LIMIT 1', alice),
        all("SELECT events.id FROM events JOIN people ON people.id = person_id WHERE people.type = 'site' LIMIT 1"),
        all('SELECT event_id FROM attendances WHERE person_id = ? LIMIT 1', bob),
      ),
      '604',
    ],
    user: [alice, bob, carol, ...others, 'alice', '999'],
    city: [
      ...all("SELECT id FROM cities WHERE id = 'beijing'"),
      ...all("SELECT loc_id FROM cities WHERE id <> 'beijing' LIMIT 1"),
      'nowhere',
    ],
    comment: [...all('SELECT id FROM note_comments WHERE note_id = ? ORDER BY id LIMIT 3', note[0]), '9'],
    isbn: [...all(`SELECT isbn13 FROM books WHERE id IN (${book.join(', ')})`), '9787444444447'],
    word: ['百年', '北京', 'love'],
    tag: all('SELECT name FROM book_tags ORDER BY count DESC LIMIT 1'),
    person,
  };
}

export async function openOriginService({ own }: Settings): Promise<Service> {
  const { directory, file, ids } = template();

  const dataDir = join(directory, String(opened++));
  mkdirSync(dataDir);
  copyFileSync(file, join(dataDir, 'origin.db'));
  const db = new Database(openSqlite(join(dataDir, 'origin.db')));
  if (own) addToken(db, OWN_TOKEN, ids.person.carol!, own.tier);
  const stores = createStores(db, createPictureStore(dataDir));
  const goOn = stopClock();
  const failures: string[] = [];
  const origin = await openOrigin({
    dataDir,
    port: 0,
    host: '127.0.0.1',
    demoDir: 'demo',
    demoTokens: false,
    publicUrl: PUBLIC_URL,
    onError: (error, request) => failures.push(`${request}: ${error instanceof Error ? error.stack : String(error)}`),
    now: () => NOW,
  });

  const agent = new Agent();
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  const personsOf = (id: string) => withAddress(PUBLIC_URL, () => formsOf(stores, id));
  return {
    answer(request) {
      // Of an operation that has ended: nobody waits for it.
      if (isClosed) return new Promise(() => undefined);
      const answer = overHttp(origin.url, agent, request);
      underWay.add(answer);
      return answer.finally(() => underWay.delete(answer));
    },
    async apart(run) {
      await Promise.all(underWay); // writes whose client has left
      let hasBegun = false;
      const fetch: Fetch = (request) => {
        if (request.method !== 'GET' && !hasBegun) {
          db.raw.exec('BEGIN IMMEDIATE');
          hasBegun = true;
        }

        return respond(db, stores, request);
      };
      try {
        return await run(fetch);
      } finally {
        if (hasBegun) db.raw.exec('ROLLBACK');
      }
    },
    personsOf,
    isAbout: (person, text) => {
      const id = ids.person[person]!;
      return text === `User:${id}` || personsOf(id).some((form) => Object.values(form).includes(text));
    },
    failures: () => failures,
    async close() {
      while (underWay.size > 0) await Promise.all(underWay);
      isClosed = true;
      await agent.close();
      await origin.close();
      db.close();
      goOn();
      rmSync(dataDir, { recursive: true });
    },
  };
}

async function overHttp(url: string, dispatcher: Agent, request: ServiceRequest): Promise<Response_> {
  const { method, path, token, body, contentType } = request;
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  const response = await send(`${url}${path}`, { method: method as 'GET', headers, body: body || null, dispatcher });
  return {
    status: response.statusCode,
    type: String(response.headers['content-type'] ?? 'text/plain'),
    body: await response.body.text(),
    retryAfter: response.headers['retry-after'] as string | undefined,
    headers: Object.fromEntries(
      Object.keys(serviceHeaders).flatMap((name) =>
        name in response.headers ? [[name, String(response.headers[name])]] : [],
      ),
    ),
  };
}

const rules = new Map(routes.map(({ endpoint, rule }) => [endpoint, rule]));
const numbers = new Set(['start', 'count', 'start-index', 'max-results', 'page', 'rating']);

/** The response of the rule of an endpoint, as JSON. */
function respond(db: Database, stores: Stores, { method, path, body, token }: ServiceRequest): Response_ {
  const [bare = '', query = ''] = path.split('?');
  const route = routeOf(method, bare);
  const answer = (status: number, result: unknown): Response_ => ({
    status,
    type: 'application/json',
    body: JSON.stringify(result ?? {}),
  });
  try {
    if (!route) throw new Rejection(1001);
    const { endpoint, params } = route;
    // A new one for each request, because it counts calls.
    const access = createAccess(db, () => NOW);
    const requester = access.requesterOf(token && `Bearer ${token}`, '');
    access.admit(endpoint, requester);
    const call: Call = { ...stores, ...requester, now: NOW, received: [], unused: [] };
    const input = inputOf(method === 'GET' ? query : body);
    const rule = rules.get(endpoint)!;
    const run = (more = {}) => withAddress(PUBLIC_URL, () => rule(call, { ...input, ...more, ...params }));
    const result = method !== 'GET' ? whollyOrNot(db, run) : endpoint.list ? pageOf(endpoint, run as never) : run();
    return answer(endpoint.status, endpoint.service === 'events' ? asRead(result as Feed) : result);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const { code } = error;
    const { status, msg } = serviceErrors[code];
    return answer(status, { code, msg, request: `${method} ${bare}` });
  }
}

interface Feed extends Partial<EventRecord>, Partial<AtomPerson> {
  author?: AtomPerson;
  entries?: Feed[];
}

/** With what only the document of a record says: the scheme of an event's type, and the kind of a person. */
function asRead(record: Feed | undefined): object | undefined {
  if (!record) return undefined;
  const { author, entries, term } = record;
  const kindOf = ({ links }: Pick<Feed, 'links'>) => (links?.self?.includes('/site/') ? 'site' : 'user');
  return {
    ...record,
    ...(term === undefined ? {} : { scheme: 'http://www.douban.com/2007#kind' }),
    ...(term === undefined && !entries ? { type: kindOf(record) } : {}),
    ...(author && { author: { ...author, type: kindOf(author) } }),
    ...(entries && { entries: entries.map(asRead) }),
  };
}

const inputOf = (text: string): object =>
  Object.fromEntries(
    [...new URLSearchParams(text)]
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, numbers.has(name) ? Number(value) : value]),
  );

/** A rejected write changes nothing. */
function whollyOrNot<T>(db: Database, run: () => T): T {
  db.raw.exec('SAVEPOINT one');
  try {
    return run();
  } catch (error) {
    db.raw.exec('ROLLBACK TO one');
    throw error;
  } finally {
    db.raw.exec('RELEASE one');
  }
}

const PAGE = 50;

/** The requested part of the whole list, with the number of its items as the total. */
function pageOf({ list, service }: Endpoint, run: (window?: object) => Record<string, unknown>): object {
  const page = run();
  const [start, count, total, first] =
    service === 'events' ? ['startIndex', 'itemsPerPage', 'totalResults', 1] : ['start', 'count', 'total', 0];
  if (typeof page[start] !== 'number') return page; // a list without pages
  const items: unknown[] = [];
  for (let more = PAGE; more === PAGE;) {
    const at = items.length + first;
    const window = service === 'events' ? { 'start-index': at, 'max-results': PAGE } : { start: at, count: PAGE };
    const part = run(window)[list!] as unknown[];
    items.push(...part);
    more = part.length;
  }
  const from = page[start] - first;
  return {
    ...page,
    ...(page[total] === undefined ? {} : { [total]: items.length }),
    [list!]: items.slice(from, from + Number(page[count])),
  };
}

/** As an author or in the record of a film, and as an entry of a feed. */
function formsOf({ db }: Stores, name: string): Record<string, unknown>[] {
  const person = db.find('people', { id: name }) ?? db.find('people', { uid: name });
  if (!person) return [];
  const { id, uid, intro, homepage, city_id, loc_name } = person;
  const entry = { id, uid, name: person.name, alt: webPage(person), avatar: avatarOf(person) };
  return [
    { ...userRecord(person) },
    { ...entry, desc: intro, homepage, ...(city_id === null ? {} : { loc_id: city_id, loc_name }) },
  ];
}
