import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { openOrigin } from '../../src/origin/server.ts';
import { growCatalog } from './grow-catalog.ts';
import { thorough } from '../support/optional.ts';
import { demoDir, service, temporaryDirectory } from '../support/service.ts';

interface Fact {
  id: string;
  title: string;
  subtitle: string;
  origin_title: string;
  alt_title: string;
  author: string[];
  translator: string[];
  publisher: string;
  isbn10: string;
  isbn13: string;
}
interface FoundBook {
  id: string;
  title: string;
  rating: { numRaters: number };
}
const [columns, ...rows] = (
  JSON.parse(readFileSync(join(demoDir, 'books.json'), 'utf8')) as { books: [string[], ...unknown[][]] }
).books;
const facts = rows.map((row) => Object.fromEntries(row.map((value, n) => [columns[n], value])) as unknown as Fact);
const textsOf = (book: Fact) => [
  ...[book.title, book.subtitle, book.origin_title, book.alt_title, book.publisher],
  ...[...book.author, ...book.translator],
];

const origin = await service();
const search = async (query: Record<string, string>, url = origin.url) => {
  const response = await fetch(`${url}/v2/book/search?${new URLSearchParams({ count: '100', ...query })}`);
  expect(response.status).toBe(200);
  return (await response.json()) as { total: number; books: FoundBook[] };
};

test('a search finds exactly the books that contain the term, however short', async () => {
  const terms = new Set<string>();
  for (const [n, book] of facts.entries()) {
    for (const text of textsOf(book)) {
      const characters = [...text];
      const [at, length] = [(n * 7) % Math.max(1, characters.length), 1 + (n % 5)];
      const term = characters.slice(at, at + length).join('');
      if (n % (thorough ? 3 : 18) === 0 && term && !/\s/u.test(term)) terms.add(term);
    }
  }
  expect(terms.size).toBeGreaterThan(thorough ? 100 : 20);
  for (const term of terms) {
    const within = (text: string) => text.toLowerCase().includes(term.toLowerCase());
    const { total, books } = await search({ q: term });
    const found = new Set(books.map(({ id }) => id));
    const holding = facts.filter((book) => textsOf(book).some(within));
    if (total <= 100) for (const { id, title } of holding) expect(found, `${term}: ${title}`).toContain(id);
    for (const { id } of books) {
      const fact = facts.find((book) => book.id === id)!;
      if (holding.includes(fact) || within(fact.isbn10) || within(fact.isbn13)) continue;
      const { tags } = (await origin.get(`/v2/book/${id}/tags`)).body as { tags: { title: string }[] };
      expect(tags.some(({ title }) => within(title)) || tags.length === 50, `${term}: ${fact.title}`).toBe(true);
    }
  }
});

test('a search returns the best match first, then the most rated', async () => {
  for (const q of ['小', '小说', '的', '出版社']) {
    const { books } = await search({ q });
    const places = books.map(({ title }) => (title === q ? 0 : title.includes(q) ? 1 : 2));
    expect(places).toEqual([...places].sort());
    for (const place of [0, 1, 2]) {
      const rated = books.filter((_, n) => places[n] === place).map(({ rating }) => rating.numRaters);
      expect(rated).toEqual([...rated].sort((a, b) => b - a));
    }
  }
});

test('a rating updates the rank and the tags of its book', async () => {
  const origin = await service();
  const { books } = await search({ q: '出版社' }, origin.url);
  const [last, before] = [books.at(-1)!, books.at(-2)!];
  const rated = async () =>
    (await search({ q: '出版社' }, origin.url)).books.find(({ id }) => id === last.id)!.rating.numRaters;
  const path = `/v2/book/${last.id}/collection`;
  await origin.delete(path, 'alice');
  const without = await rated();
  expect((await origin.post(path, 'alice', { status: 'read', rating: 5, tags: '压箱底 甲' })).status).toBe(201);
  expect(await rated()).toBe(without + 1);
  for (const q of ['压箱底', '箱底', '甲'])
    expect((await search({ q }, origin.url)).books.map(({ id }) => id)).toContain(last.id);
  expect((await search({ q: '出版社', tag: '压箱底' }, origin.url)).books.map(({ id }) => id)).toEqual([last.id]);
  expect((await search({ q: before.title, tag: '压箱底' }, origin.url)).total).toBe(0);
  expect((await origin.delete(path, 'alice')).status).toBe(204);
  expect(await rated()).toBe(without);
  expect((await search({ q: '压箱底' }, origin.url)).total).toBe(0);
});

test.each([
  '\0',
  '\0"',
  'a\0b',
  '\u001e',
  '\u001f的\u001f',
  '"',
  '""',
  '^a',
  'title:',
  'a:b',
  '{title}',
  '*',
  '-',
  'NOT',
  'NEAR(a b)',
  '(',
  '\\',
  "'",
  '%',
  '_',
  '\ud800',
  '😀',
  'é',
  '  \u3000  x',
  'x'.repeat(3_000),
])('a search treats %j as text, or as a tag', async (text) => {
  for (const query of [
    { q: text },
    { tag: text },
    { q: text, tag: text },
    { q: `小说 ${text}`, tag: '小说' },
  ] as Record<string, string>[]) {
    const { pathname, search } = new URL(`http://x/v2/book/search?${new URLSearchParams(query)}`);
    const { status, body } = await origin.get(pathname + search);
    expect(status === 200 || body.code === 1002, `${status} ${JSON.stringify(body)}`).toBe(true);
  }
  const query = new URLSearchParams({ q: text, location: 'all' }).toString();
  for (const path of ['/v2/movie/search', '/events'])
    expect((await origin.get(`${path}?${query}`, 'alice')).status, path).toBeOneOf([200, 400]);
});

test('a search returns at most a thousand books, the most rated first', async () => {
  const dataDir = temporaryDirectory();
  growCatalog(dataDir, demoDir, 4_500);
  const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true });
  try {
    for (const query of [{ q: '的' }, { q: '年' }, { tag: '小说' }, { q: '出版社' }] as Record<string, string>[]) {
      const found: FoundBook[] = [];
      for (let start = 0; start <= 1_100; start += 100) {
        const { total, books } = await search({ ...query, start: String(start) }, origin.url);
        expect(total).toBeLessThanOrEqual(1_000);
        expect(books).toHaveLength(Math.max(0, Math.min(100, total - start)));
        found.push(...books);
      }
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    }
    const db = openSqlite(join(dataDir, 'origin.db'), { readOnly: true });
    const { best } = db.prepare("SELECT max(raters) AS best FROM books WHERE title LIKE '%的%'").get() as {
      best: number;
    };
    const plans = [
      'SELECT rowid FROM books_fts WHERE books_fts MATCH ? ORDER BY rowid LIMIT 9',
      'SELECT book_id FROM book_tags WHERE name = ? ORDER BY count DESC, book_id LIMIT 9',
    ];
    for (const sql of plans)
      expect(JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all('x')), sql).not.toContain('TEMP B-TREE');
    db.close();
    const { total, books } = await search({ q: '的' }, origin.url);
    expect([total, books[0]!.rating.numRaters]).toEqual([1_000, best]);
  } finally {
    await origin.close();
  }
});
