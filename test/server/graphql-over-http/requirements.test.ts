import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import type { Config } from '../../../src/config/settings.ts';
import { createFetchHandler } from '../../../src/fetch-handler.ts';
import { createLog } from '../../../src/lib/log.ts';
import { createCore } from '../../../src/server/core.ts';
import { allFeatures } from '../../../src/server/features/features.ts';
import { createGraphServer } from '../../../src/server/server.ts';
import { configWith } from '../../support/config.ts';
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
    const own = { BASE_URL: url, EVENT_BASE_URL: url, LOG_LEVEL: 'silent' };
    const strict = handlerOf(configWith(own, { httpStatuses, ...flags }));
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

/** A facade without a port, whose numbers a test chooses. */
function handlerOf(config: Config) {
  const core = createCore({ ...config, port: 0 }, createLog('silent', process.stderr));
  return createFetchHandler(createGraphServer(core, allFeatures({})).server);
}

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
