import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { embedded } from '../../support/embedded.ts';
import { startFacade } from '../../support/start-facade.ts';
import {
  GRAPHQL,
  JSON_TYPE,
  type Requirement,
  type Seen,
  type Sent,
  asOf2025,
  departures,
  requirements,
  unfinished,
} from './requirements.ts';

type Sender = (sent: Sent) => Promise<Omit<Seen, 'code'>>;
type Edition = '2025' | '2026';

const folder = mkdtempSync(join(tmpdir(), 'catalog-manifest-'));
afterAll(() => rmSync(folder, { recursive: true }));
const persistedOperations = join(folder, 'manifest.json');
writeFileSync(persistedOperations, JSON.stringify({ [createHash('sha256').update('{ a }').digest('hex')]: '{ a }' }));

const limits = { persistedOperations, persistedOnly: true, maxBodyBytes: 2_000, requestBodyTimeoutMs: 50 };
const flags = { persistedOperations, persistedOnly: 'on', maxBodyBytes: '2000', requestBodyTimeoutMs: '50' };

const ways = {
  'over a socket': async (httpStatuses: Edition): Promise<Sender> => {
    const [usual, strict] = await Promise.all([{}, flags].map((more) => startFacade({ httpStatuses, ...more })));
    watched.push(usual!.books, strict!.books);
    return async ({ method, search = '', headers, body, facade }) => {
      const url = (facade ? strict : usual)!.url + search;
      const sent = body === unfinished ? beginning() : body;
      const { statusCode, headers: got, body: answer } = await request(url, { method, headers, body: sent });
      const [type = null, allow = null] = [got['content-type'], got.allow] as (string | undefined)[];
      return { status: statusCode, type, allow, body: parsed(await answer.text()) };
    };
  },
  'over fetch': async (httpStatuses: Edition): Promise<Sender> => {
    const { url, requests } = await upstream;
    watched.push({ requests });
    const usual = embedded(url, { httpStatuses });
    const strict = embedded(url, { httpStatuses, ...limits });
    return async ({ method, search = '', headers, body, facade }) => {
      const sent =
        body === unfinished ? Readable.toWeb(beginning()) : typeof body === 'string' ? Buffer.from(body) : body;
      const init = { method, headers, body: sent, duplex: 'half' } as RequestInit;
      const answer = await (facade ? strict : usual).fetch(new Request(`http://localhost/graphql${search}`, init));
      const [type, allow] = ['content-type', 'allow'].map((name) => answer.headers.get(name));
      return { status: answer.status, type: type!, allow: allow!, body: parsed(await answer.text()) };
    };
  },
};

/** Services that no request of the table may reach. */
const watched: { requests: unknown[] }[] = [];
const upstream = startFacade().then(({ books }) => books);
afterAll(() => expect(watched.flatMap(({ requests }) => requests)).toEqual([]));

const beginning = () =>
  Readable.from(
    (async function* () {
      yield Buffer.from('{"query":');
      await new Promise(() => undefined);
    })(),
  );
const parsed = (body: string) => (body ? JSON.parse(body) : {}) as Seen['body'];

function meets([, , , sent, expected]: Requirement, seen: Omit<Seen, 'code'>): void {
  const { errors, data } = seen.body as {
    errors?: { message: string; extensions: { code: string } }[];
    data?: unknown;
  };
  expect({ ...seen, code: errors?.[0]?.extensions.code }).toMatchObject(expected);
  // What holds of every response.
  expect(seen.type).toMatch(new RegExp(`^(${JSON_TYPE}|${GRAPHQL.replace('+', '\\+')}); charset=utf-8$`));
  if (sent.method === 'HEAD') return expect(seen.body).toEqual({});
  if (errors) expect(errors.map(({ message }) => typeof message)).toEqual(errors.map(() => 'string'));
  else expect(data).toBeTypeOf('object');
  if (seen.status >= 400) expect(seen.body).not.toHaveProperty('data');
}

describe.each(Object.entries(ways))('GraphQL over HTTP %s', async (_, open) => {
  const [current, before] = await Promise.all([open('2026'), open('2025')]);

  describe('September2026', () => {
    test.each(requirements)('%s: %s: %s', async (...requirement) => {
      meets(requirement, await current(requirement[3]));
    });
  });

  describe('what is decided otherwise', () => {
    test.each(departures)('%s: %s: %s', async (...requirement) => {
      meets(requirement, await current(requirement[3]));
    });
  });

  test('HTTP_STATUSES=2025 has the statuses of before', async () => {
    for (const [section, level, says, sent, expected] of [...requirements, ...departures])
      meets([section, level, says, sent, asOf2025(expected)], await before(sent));
  });
});

test('the table has at least ninety requirements, each once', () => {
  const names = requirements.map(([section, level, says]) => `${section} ${level} ${says}`);
  expect(new Set(names).size).toBe(names.length);
  expect(requirements.filter(([, level]) => level !== 'MAY').length).toBeGreaterThan(90);
});
