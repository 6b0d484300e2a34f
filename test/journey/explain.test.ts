import fc from 'fast-check';
import { parse, validate } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { journey } from '../support/journey.ts';
import { randomDocument } from '../support/selections.ts';

interface Planned {
  min: number;
  max: number;
  services: Record<'catalog' | 'events', { min: number; max: number }>;
  fields: { path: string; coordinate: string; endpoint: string; min: number; max: number }[];
}

let cold: Awaited<ReturnType<typeof journey>>;
let warm: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  cold = await journey({ recordTtlSeconds: '0' });
  warm = await journey();
});

const plan = { 'x-explain': 'plan' };
const trace = { 'x-explain': 'trace' };
const planOf = async (at: typeof cold, query: string, variables: Record<string, unknown> = {}, token?: string) => {
  const answer = await at.execute(query, { headers: plan, variables, ...(token ? { token } : {}) });
  return (answer.extensions as { upstream: Planned }).upstream;
};

describe('x-explain: plan', () => {
  test('makes no upstream calls and returns the planned calls, by service and by field', async () => {
    const query = `{
      book(id: "6082808") { title annotations(first: 5) { nodes { abstract } } }
      city(id: "beijing") { events(first: 10) { nodes { title organizer { name } } } }
    }`;
    const { response, calls } = await cold.cost(query, { headers: plan });
    expect(calls).toBe(0);
    expect(response.data).toBeNull();
    expect(response.errors).toEqual([
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'PLANNED_NOT_RUN' }) }),
    ]);
    expect(response.extensions).toEqual({
      upstream: {
        min: 3,
        likely: 13,
        max: 13,
        services: { catalog: { min: 2, likely: 2, max: 2 }, events: { min: 1, likely: 11, max: 11 } },
        fields: [
          { path: 'book', coordinate: 'Query.book', endpoint: 'GET /v2/book/:id', min: 1, likely: 1, max: 1 },
          {
            path: 'book.annotations',
            coordinate: 'Book.annotations',
            endpoint: 'GET /v2/book/:id/annotations',
            min: 1,
            likely: 1,
            max: 1,
          },
          {
            path: 'city.events',
            coordinate: 'City.events',
            endpoint: 'GET /event/location/:id',
            min: 1,
            likely: 1,
            max: 1,
          },
          {
            path: 'city.events.nodes.organizer',
            coordinate: 'Event.organizer',
            endpoint: 'GET /event/:id',
            min: 0,
            likely: 10,
            max: 10,
          },
        ],
      },
      answer: {
        items: { max: 15, dearest: { path: 'city.events.nodes', coordinate: 'EventConnection.nodes', max: 10 } },
        values: { max: 52, dearest: { path: 'city.events.nodes', coordinate: 'EventConnection.nodes', max: 20 } },
      },
    });
  });

  test('takes the cache into account', async () => {
    const query = '{ book(id: "6082808") { title } }';
    expect(await planOf(warm, query)).toMatchObject({ min: 1, max: 1 });
    await warm.execute(query);
    expect(await planOf(warm, query)).toMatchObject({ min: 0, max: 1 });
  });

  test('contains the actual number of calls of any query, with empty and filled cache', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const { query, variables } = randomDocument(schema, seed, { depth: 4, first: 3 });
        if (validate(schema, parse(query)).length > 0) return;
        for (const at of [cold, warm]) {
          const planned = await planOf(at, query, variables, 'demo-alice');
          if (!planned) return; // rejected before planning
          const { response, passed } = await at.cost(query, { variables, token: 'demo-alice' });
          if (response.errors?.some(({ extensions }) => extensions.code === 'TOO_MANY_CALLS')) continue;
          expect({ query, calls: passed.length, lines: passed.map(({ line }) => line) }).toSatisfy(
            ({ calls }: { calls: number }) => calls >= planned.min && calls <= planned.max,
            `${planned.min} to ${planned.max}`,
          );
        }
      }),
      { numRuns: 25, seed: Number(process.env.EXPLAIN_SEED ?? 1) },
    );
  }, 300_000);
});

describe('x-explain: trace', () => {
  test('lists the upstream calls with their fields, and never a token', async () => {
    const answer = await cold.execute('{ book(id: "6082808") { title annotations(first: 2) { nodes { id } } } }', {
      headers: trace,
      token: 'demo-alice',
    });
    expect(answer.extensions).toEqual({
      upstream: {
        calls: [
          expect.objectContaining({
            service: 'catalog',
            method: 'GET',
            path: '/v2/book/6082808/annotations?count=2&order=rank&start=0',
            fields: 'id',
            status: 200,
            field: 'book.annotations',
          }),
          expect.objectContaining({
            service: 'catalog',
            method: 'GET',
            path: '/v2/book/6082808',
            fields: 'id,title',
            status: 200,
            field: 'book',
          }),
        ],
      },
    });
    expect(JSON.stringify(answer)).not.toContain('demo-alice');
  });

  test('lists what was served from the cache', async () => {
    const query = '{ book(id: "26340138") { title } }';
    await warm.execute(query);
    const answer = await warm.execute(query, { headers: trace });
    expect(answer.extensions).toMatchObject({ upstream: { calls: [{ how: 'cached', field: 'book' }] } });
  });
});

describe('where EXPLAIN is off', () => {
  let off: Awaited<ReturnType<typeof journey>>;
  beforeAll(async () => {
    off = await journey({ explain: 'off' });
  });
  const remove = 'mutation { deleteCollection(input: { bookId: "6082808" }) { book { id } } }';

  test.each([
    ['JSON', remove],
    ['JSON with @defer', 'mutation { deleteCollection(input: { bookId: "6082808" }) { ... @defer { book { id } } } }'],
  ])('a mutation whose plan is requested is rejected and not run: %s', async (_, query) => {
    for (const explain of ['plan', 'plann']) {
      const { response, calls } = await off.cost(query, { token: 'demo-alice', headers: { 'x-explain': explain } });
      expect({ code: response.errors?.[0]?.extensions.code, data: response.data, calls }).toEqual({
        code: 'BAD_EXPLAIN',
        data: undefined,
        calls: 0,
      });
    }
  });

  test('a mutation in a form whose plan is requested is rejected with status 400', async () => {
    const form = new FormData();
    form.append('operations', JSON.stringify({ query: remove }));
    form.append('map', '{}');
    expect(await off.upload(form, plan)).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'BAD_EXPLAIN' } }],
    });
  });

  test('a query is run as without the header, and a mutation with x-explain: trace too', async () => {
    const query = await off.execute('{ book(id: "6082808") { id } }', { headers: plan });
    expect(query).toEqual({ data: { book: { id: 'Book:6082808' } } });
    const like = 'mutation { unlikeNote(input: { id: "999" }) { note { id } } }';
    const { errors } = await off.execute(like, { token: 'demo-alice', headers: trace });
    expect(errors?.[0]?.extensions.code).toBe('NOTE_NOT_FOUND');
  });
});

describe('MAX_UPSTREAM_CALLS', () => {
  test('counts deferred parts, and rejects them before any call', async () => {
    const all = 'top250(first: 100) { nodes { casts { works(first: 20) { nodes { roles } } } } }';
    const { response, calls } = await cold.cost(`{ viewer { isLoggedIn } ... @defer { ${all} } }`);
    expect(calls).toBe(0);
    expect(response.errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_CALLS', coordinate: 'Celebrity.works' });

    const page = 'series { books(first: 1) { nodes { id } } }';
    expect(await planOf(cold, `{ book(id: "6082808") { title ... @defer { ${page} } } }`)).toMatchObject({
      min: 1,
      max: 3, // the record, its fields that were not loaded first, the series
      fields: [{ path: 'book' }, { path: 'book.series' }, { path: 'book.series.books' }],
    });

    const chart = '{ top250(first: 3) { nodes { title ... @defer { year } } } }';
    expect(await planOf(cold, chart)).toMatchObject({ min: 1, max: 4 });
  });

  test('allows a chart page: 20 films, their people, the works of each', async () => {
    const query = `{ top250(first: 20) { nodes { directors { ...person } casts { ...person } } } }
      fragment person on Celebrity { name works(first: 5) { nodes { subject { title } } } }`;
    // The page, the film of each item, and at most 4 directors and 4 actors per film.
    expect(await planOf(cold, query)).toMatchObject({ min: 1, max: 1 + 20 + 20 * 8 });
  });

  test('rejects an operation before any call, and names the field to change', async () => {
    const { response, calls } = await cold.cost(
      '{ top250(first: 100) { nodes { casts { works(first: 20) { nodes { roles } } } } } }',
    );
    expect(calls).toBe(0);
    expect(response.errors?.[0]?.extensions).toMatchObject({
      code: 'TOO_MANY_CALLS',
      limit: 250,
      coordinate: 'Celebrity.works',
    });
  });
});
