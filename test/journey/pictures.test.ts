import { beforeAll, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';

let setup: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  setup = await journey();
});

/** All picture URLs in a response. */
function pictures(value: unknown, found: string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, below] of Object.entries(value)) {
    if (typeof below === 'string' && /^(small|medium|large|url|\w*(?:image|avatar|icon|thumb|cover)Url)$/i.test(name)) {
      found.push(below);
    } else pictures(below, found);
  }
  return found;
}

test.each([
  ['covers', '{ searchBooks(query: "的", first: 5) { nodes { cover { small medium large } } } }'],
  ['posters', '{ top250(first: 5) { nodes { poster { small medium large } } } }'],
  [
    'portraits and stills',
    `{ subject(id: "26266893") { casts { portrait { small medium large } } directors { portrait { large } }
       photos(first: 3) { nodes { iconUrl imageUrl thumbUrl coverUrl } } } }`,
  ],
  ['events and people', '{ event(id: "30134553") { imageUrl participants(first: 5) { nodes { avatarUrl } } } }'],
  ['a note', '{ note(id: "244600001") { pictures { url } comments(first: 3) { nodes { author { avatarUrl } } } } }'],
  [
    'annotations',
    '{ book(id: "6082808") { annotations(first: 40) { nodes { author { avatarUrl } pictures { url } } } } }',
  ],
])('picture URLs of %s can be loaded', async (_, query) => {
  const { data, errors } = await setup.execute(query, { token: 'demo-alice' });
  expect(errors).toBeUndefined();
  const urls = new Set(pictures(data));
  expect(urls.size).toBeGreaterThan(2);
  for (const url of urls) {
    const response = await fetch(url);
    expect([url, response.status, response.headers.get('content-type')]).toEqual([
      url,
      200,
      'image/svg+xml; charset=utf-8',
    ]);
    expect(await response.text()).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>$/s);
  }
});

test('a user has the URL of their homepage if there is one', async () => {
  const query =
    '{ user(id: "alice") { events(first: 9) { nodes { participants(first: 9) { edges { uid homepageUrl } } } } } }';
  const { data } = await setup.execute(query);
  const people = (
    data.user.events.nodes as { participants: { edges: { uid: string; homepageUrl: string | null }[] } }[]
  ).flatMap(({ participants }) => participants.edges);
  expect(people).toContainEqual({ uid: 'alice', homepageUrl: 'https://alice.example/' });
  expect(people.some(({ homepageUrl }) => homepageUrl === null)).toBe(true);
});
