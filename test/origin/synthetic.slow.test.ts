import { expect, test } from 'vitest';
import { openOrigin } from '../../src/origin/server.ts';
import { growCatalog } from './grow-catalog.ts';
import { demoDir, temporaryDirectory } from '../support/service.ts';

test('synthetic books are added to the demo data, and generation resumes where it stopped', async () => {
  const dataDir = temporaryDirectory();
  const progress: number[] = [];
  growCatalog({ dataDir, demoDir, books: 6_000, onProgress: (done) => progress.push(done) });
  growCatalog({ dataDir, demoDir, books: 10 });
  expect(progress).toEqual([5_000, 6_000]);

  const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true });
  try {
    const get = async (path: string) => (await fetch(origin.url + path)).json() as Promise<Record<string, unknown>>;
    const found = await get(`/v2/book/search?q=${encodeURIComponent('图书馆 5000')}`);
    expect(found).toMatchObject({ start: 0, count: 20 });
    const grown = await get(`/v2/book/search?q=${encodeURIComponent('远山出版社')}&count=1`);
    expect(grown['total']).toBeGreaterThan(500);
    const [book] = grown['books'] as { id: string; isbn13: string; tags: unknown[] }[];
    expect(book!.tags).toHaveLength(3);
    expect(await get(`/v2/book/isbn/${book!.isbn13}`)).toMatchObject({ id: book!.id });
    expect(await get('/v2/movie/subject/26266893')).toMatchObject({ title: '流浪地球' });
  } finally {
    await origin.close();
  }
});
