import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { beforeAll, describe, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { readConfig } from '../../../src/config/read.ts';
import { schema } from '../../../src/graph/schema.ts';
import { openServer } from '../../support/open-server.ts';
import { createTransport } from '../../../src/upstream/http/pool.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { thorough } from '../../support/optional.ts';
import { patient } from '../../support/patient.ts';
import { randomDocument } from '../../support/selections.ts';
import { service } from '../../support/service.ts';

/**
 * A facade without a cache, over the origin. If `faulty`, every seventh path of the service fails.
 */
async function open(faulty: boolean) {
  // Each facade has its own origin, so the addresses in records must not differ.
  const origin = await service({ publicUrl: 'http://127.0.0.1:4001' });
  const config = readConfig({
    BASE_URL: origin.url,
    EVENT_BASE_URL: origin.url,
    ACCESS_TOKEN: 'demo-app',
    FILM_TIER: 'advance',
    PORT: '0',
    RECORD_TTL_SECONDS: '0',
  });
  const settings = { ...config, ...patient, baseUrl: origin.url, eventBaseUrl: origin.url };
  const transport = createTransport(settings);
  const upstream = createUpstream(catalogService, settings, {
    transport: {
      ...transport,
      send: async (request, cancellation) => {
        const isFaulty = faulty && checksum(request.path.split('?', 1)[0] ?? '') % 7 === 0;
        const response = await transport.send(request, cancellation);
        return isFaulty ? { ...response, status: 400, body: Buffer.from('{"code": 999}') } : response;
      },
    },
  });
  const facade = await openServer(settings, { schema, upstream, log: pino({ level: 'silent' }) });
  return async (body: object, accept = 'application/json'): Promise<string> => {
    const response = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-alice', accept },
      body: JSON.stringify(body),
    });
    // Each facade has its own origin, whose address is part of picture URLs.
    const text = (await response.text()).replaceAll(origin.url, 'http://origin');
    return `${response.status} ${response.headers.get('content-type')} ${sorted(JSON.parse(text) as Answer)}`;
  };
}

const checksum = (text: string) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, 7);

/** The texts around their first difference. */
function difference(a: string, b: string): string {
  let at = 0;
  while (a[at] === b[at]) at++;
  return `${a.slice(Math.max(0, at - 80), at + 200)}\n${b.slice(Math.max(0, at - 80), at + 200)}`;
}

interface Failure {
  message: string;
  path?: (string | number)[];
  extensions?: { code?: string };
}

interface Answer {
  data?: unknown;
  errors?: Failure[];
}

/**
 * Sorts keys and errors. Errors are compared by the position they null, because of several errors
 * that null the same position an executor may report one or all.
 */
function sorted({ data, errors, ...rest }: Answer): string {
  const places = errors?.map(
    ({ message, path, extensions }) => `${nulled(data, path ?? []).join('.')} ${extensions?.code ?? message}`,
  );
  return JSON.stringify(
    { ...rest, data, ...(places && { errors: [...new Set(places)].sort() }) },
    (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  );
}

/** The prefix of a path up to where the data is null. */
function nulled(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let at = data;
  for (const [depth, key] of path.entries()) {
    if (at === null || at === undefined) return path.slice(0, depth);
    at = (at as Record<string | number, unknown>)[key];
  }
  return path;
}

describe.each([false, true])('with a service that fails now and then: %s', (faulty) => {
  let execute: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    execute = await open(faulty);
  });

  /** Runs a document on the fast path, and through Yoga, which an unknown extension selects. */
  async function same(query: string, variables?: object): Promise<void> {
    const plain = await execute({ query, variables });
    const yoga = await execute({ query, variables, extensions: { unusual: true } });
    if (plain !== yoga) throw new Error(`Yoga differs:\n${query}\n${difference(plain, yoga)}`);
  }

  const folder = join(import.meta.dirname, '../../../operations');
  const pages = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
  test.each(pages.filter((file) => !/^mutation/m.test(readFileSync(join(folder, file), 'utf8'))))(
    'the fast path and Yoga return the same response: %s',
    async (file) => {
      await same(readFileSync(join(folder, file), 'utf8'));
    },
  );

  test('the fast path and Yoga return the same response: invalid documents and variables', async () => {
    for (const query of [
      '{ book(id: "../x") { title } }',
      '{ book { title } }',
      '{ nothing }',
      'query($id: ID!) { book(id: $id) { title } }',
      'query($first: Int) { top250(first: $first) { nodes { title } } }',
      '{ __typename book(id: "1") { __typename } }',
      '{ searchBooks(query: "百", first: 0) { totalCount } }',
      '{ newMovies { subjects { rating { average ratersCount } } } }',
      '{ nodes(ids: ["Book:6082808", "Nope:1", "Photo:1", "Subject:1"]) { __typename id } }',
      '{ viewer { isLoggedIn filmTier } }',
      '{',
      '',
    ]) {
      await same(query);
      await same(query, {});
      await same(query, { id: 7, first: null });
    }
  });

  test('the fast path and Yoga return the same response: generated documents', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const { query, variables } = randomDocument(schema, seed, { depth: 4, first: 3 });
        await same(query, variables);
      }),
      {
        numRuns: Number(process.env.DOORS_RUNS ?? (thorough ? 40 : 10)),
        // The same documents each time, unless FAST_PATH_SEED is set.
        seed: Number(process.env.FAST_PATH_SEED ?? 1),
      },
    );
  });
});
