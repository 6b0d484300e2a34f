import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const query = `{
  few: searchBooks(query: "x", first: 2) { nodes { id } }
  many: searchBooks(query: "x", first: 50) { nodes { title } }
}`;
const book = (id: number) => ({ id: String(id), title: `Book ${id}` });
const few = { nodes: [{ id: 'Book:1' }, { id: 'Book:2' }] };

/** A facade whose service answers a search by its `count`. */
function searching(answer: (count: number) => { status?: number; body: object }) {
  const made = facade({ recordTtlSeconds: 0, readAttempts: 1 });
  made.service
    .intercept({ path: (path) => path.startsWith('/v2/book/search') })
    .reply(({ path }) => {
      const { status = 200, body } = answer(Number(new URLSearchParams(path.split('?')[1]).get('count')));
      return { statusCode: status, data: body, responseOptions: { headers: { 'content-type': 'application/json' } } };
    })
    .persist();
  return made;
}

const page = (count: number) => ({
  start: 0,
  count,
  total: 90,
  books: Array.from({ length: count }, (_, at) => book(at + 1)),
});

describe('two windows of one list, which one request can answer', () => {
  test('are one request', async () => {
    const made = searching((count) => ({ body: page(count) }));
    const { data } = await made.execute(query);
    expect(data).toMatchObject({ few });
    expect((data as { many: { nodes: unknown[] } }).many.nodes).toHaveLength(50);
    expect(made.calls).toEqual(['GET /v2/book/search?count=50&fields=id,title&q=x&start=0']);
  });

  test('are two if the larger one fails: the smaller one is not lost with it', async () => {
    const made = searching((count) =>
      count > 20 ? { status: 500, body: { code: 999, msg: 'x', request: 'GET /' } } : { body: page(count) },
    );
    const { data, errors } = await made.execute(query);
    expect(data).toEqual({ few, many: null });
    expect(errors?.map(({ path }) => path)).toEqual([['many']]);
    expect(made.calls).toHaveLength(2);
  });

  test('are one request if the service denies it: it denies both', async () => {
    const made = searching(() => ({ status: 403, body: { code: 1000, msg: 'need_permission', request: 'GET /' } }));
    const { data, errors } = await made.execute(query);
    expect(data).toEqual({ few: null, many: null });
    expect(errors?.map(({ path }) => path).sort()).toEqual([['few'], ['many']]);
    expect(made.calls).toHaveLength(1);
  });

  test('are one request if the service has a smaller maximum that reaches as far as the smaller one', async () => {
    const made = searching((count) => ({ body: page(Math.min(count, 20)) }));
    const { data } = await made.execute(query);
    expect(data).toMatchObject({ few });
    expect(made.calls).toHaveLength(1);
  });
});
