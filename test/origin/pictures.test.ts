import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readers, termOf, writers } from '../../src/atom/media.ts';
import { type Credential, form, picture, rejection, service } from '../support/service.ts';

const origin = await service();

/** The URLs of pictures in a JSON or XML document. */
const picturesIn = (text: string) => [
  ...new Set([...text.matchAll(/https?:\/\/[^\s"'<>\\]+?\.(?:svg|jpg|jpeg|png|gif|webp)\b/g)].map(([url]) => url)),
];
interface Svg {
  width: number;
  height: number;
  texts: string[];
}
function svgOf(text: string): Svg {
  expect(XMLValidator.validate(text)).toBe(true);
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', parseTagValue: false });
  const { svg } = parser.parse(text) as { svg: Record<string, unknown> };
  const texts = [svg.text ?? []].flat() as { '#text': string }[];
  return { width: Number(svg.width), height: Number(svg.height), texts: texts.map((each) => each['#text']) };
}
const drawn = async (path: string) => svgOf((await origin.get(`/pictures/${path}`)).text);

const draft = (title: string) =>
  writers.eventDraft({
    title,
    term: termOf('music'),
    content: '带一张毯子。',
    startTime: '2099-01-02T19:30:00+08:00',
    endTime: '2099-01-02T21:30:00+08:00',
    where: '小剧场',
  });
/** An event of alice with a picture. */
const pictured = async () =>
  readers
    .eventFeed((await origin.get('/people/alice/events/initiate?max-results=50')).text)
    .entries.find(({ links }) => links.image)!.id;

describe('every picture URL of a record is served with its media type:', () => {
  test.each<[string, string, Credential]>([
    ['a book', '/v2/book/6082808', null],
    ['a search of books', '/v2/book/search?q=的', null],
    ['annotations', '/v2/book/6082808/annotations?count=100', null],
    ['annotations in HTML', '/v2/book/6082808/annotations?count=100&format=html', null],
    ['collections', '/v2/book/user/alice/collections', null],
    ['a film', '/v2/movie/subject/26266893', 'alice'],
    ['photos of a film', '/v2/movie/subject/26266893/photos', 'alice'],
    ['reviews of a film', '/v2/movie/subject/26266893/reviews', 'alice'],
    ['a chart', '/v2/movie/top250?count=20', 'bob'],
    ['a person of films', '/v2/movie/celebrity/1000525', 'alice'],
    ['a diary', '/v2/note/user_created/alice', 'alice'],
    ['comments of a note', '/v2/note/244600001/comments', 'alice'],
    ['events of a city', '/event/location/beijing', null],
    ['a single event', '/event/30134553', null],
    ['participants', '/event/30134553/participants', null],
  ])('%s', async (_, path, as) => {
    const response = await origin.get(path, as);
    expect(response.status).toBe(200);
    const urls = picturesIn(response.text);
    expect(urls).not.toEqual([]);
    for (const url of urls) {
      expect(url.startsWith(`${origin.url}/pictures/`), url).toBe(true);
      const { status, headers, text } = await origin.get(new URL(url).pathname);
      expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(url).toMatch(/\.svg$/);
      expect(svgOf(text).width).toBeGreaterThan(0);
      expect(text.length).toBeLessThan(8_000);
    }
  });

  test('in the documented sizes', async () => {
    const { images } = (await origin.get('/v2/movie/subject/26266893', 'alice')).body;
    const { avatars } = (await origin.get('/v2/movie/celebrity/1000525', 'alice')).body;
    const { images: covers, image } = (await origin.get('/v2/book/6082808')).body;
    const sizesOf = async (urls: Record<string, string>) =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(urls).map(async ([size, url]) => {
            const { width, height } = svgOf((await origin.get(new URL(url).pathname)).text);
            return [size, `${width}x${height}`];
          }),
        ),
      );
    expect(await sizesOf(images)).toEqual({ small: '64x103', medium: '96x155', large: '288x465' });
    expect(await sizesOf(avatars)).toEqual({ small: '70x100', medium: '140x200', large: '420x600' });
    expect(Object.keys(await sizesOf(covers))).toEqual(['small', 'medium', 'large']);
    expect(image).toBe(covers.medium);
  });
});

describe('a drawn picture', () => {
  test('contains the title, and is the same every time', async () => {
    expect((await drawn('book/large/6082808.svg')).texts.join('')).toBe('百年孤独[哥伦比亚] 加西亚·马尔克斯');
    const path = '/pictures/subject/large/1292052.svg';
    expect((await origin.get(path)).text).toBe((await origin.get(path)).text);
    expect((await origin.get(path)).text).not.toBe((await origin.get('/pictures/subject/large/26266893.svg')).text);
  });

  test('contains no scripts or links, and has an ETag that changes with its record', async () => {
    const id = await pictured();
    const path = `/pictures/event/large/${id}.svg`;
    const first = await origin.get(path);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
    });
    const etag = first.headers.get('etag')!;
    const again = (known: string) => fetch(origin.url + path, { headers: { 'if-none-match': known } });
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, headers } = await again(known);
      expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([304, etag, 'public, max-age=3600']);
    }
    expect((await again('"other"')).status).toBe(200);
    const head = await fetch(origin.url + path, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
    expect((await origin.put(`/event/${id}`, 'alice', draft('换了名字'))).status).toBe(200);
    const changed = await again(etag);
    expect(changed.status).toBe(200);
    expect(await changed.text()).toContain('换了名字');
  });

  test.each([
    ['markup', '</text><script>alert(1)</script><image href="https://evil.example/x.png"/>'],
    ['quotes and references', `"'" onload="alert(1)" &amp; &#0; &evil; ]]> <!-- <?xml`],
    ['nothing but spaces and marks', ' ，。！ … '],
    ['one word without an end', 'a'.repeat(50_000)],
    ['Chinese without an end', '长'.repeat(50_000)],
    ['marks without an end', `e${'\u0301'.repeat(50_000)}`],
    ['families', '👩‍👩‍👧'.repeat(500)],
    ['from right to left', '\u202eevil \u05d0\u05d1 \u061c'],
  ])('contains a title of %s safely and at limited size', async (_, title) => {
    const id = await pictured();
    expect((await origin.put(`/event/${id}`, 'alice', draft(title))).status).toBe(200);
    const { status, text } = await origin.get(`/pictures/event/large/${id}.svg`);
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(8_000);
    expect(new Set([...text.matchAll(/<([a-zA-Z]+)/g)].map(([, name]) => name))).not.toContain('script');
    expect(text).not.toMatch(/<(?:image|!)|<[^>]*\s(?:on\w+|(?:xlink:)?href)=/i);
    expect(svgOf(text)).toMatchObject({ width: 300, height: 420 });
  });

  test.each([
    'book/large/0.svg',
    'book/large/6082808.jpg',
    'book/large/6082808.svg.svg',
    'book/huge/6082808.svg',
    'book/toString/6082808.svg',
    'constructor/large/6082808.svg',
    '__proto__/large/6082808.svg',
    'shelf/large/6082808.svg',
    'subject/large/999999999.svg',
    'celebrity/large/999999999.svg',
    'person/large/alice.svg',
    'event/large/1.svg',
    `note/large/${'1'.repeat(200)}.svg`,
    'book/large/..%2F..%2Forigin.db',
    'book/large',
  ])('that does not exist is answered with 404: %s', async (path) => {
    expect(await origin.get(`/pictures/${path}`)).toMatchObject(
      rejection(404, 1001, 'uri_not_found', `GET /pictures/${path}`),
    );
  });

  test('of a note discloses nothing about private notes: it looks the same whether the note exists or not', async () => {
    const texts = await Promise.all(
      ['244600003-1', '999999999-1'].map(async (id) => (await origin.get(`/pictures/note/large/${id}.svg`)).text),
    );
    for (const text of texts) expect(svgOf(text).texts).toEqual([]);
  });

  test('exists for events of the demo only: a created event without a picture has no URL for one', async () => {
    const { id, links } = readers.event((await origin.post('/events', 'alice', draft('没有图'))).text);
    expect(links.image).toBeUndefined();
    expect((await origin.get(`/pictures/event/large/${id}.svg`)).status).toBe(404);
  });
});

test('an uploaded picture is served unchanged with an immutable cache policy', async () => {
  const note = form({ title: '图', content: '<图片p_1>', pids: 'p_1', image_1: picture('png') });
  const { photos } = (await origin.post('/v2/notes', 'alice', note)).body;
  const { status, headers } = await origin.get(new URL(photos[1]).pathname);
  expect(status).toBe(200);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
});

test.runIf(existsSync('/proc/self/fd'))(
  'a picture leaves no file descriptor open after a HEAD request or a disconnect',
  async () => {
    const note = form({ title: '图', content: '<图片p_1>', pids: 'p_1', image_1: picture('png', 2_900_000) });
    const { photos } = (await origin.post('/v2/notes', 'alice', note)).body as { photos: Record<string, string> };
    const name = new URL(photos[1]!).pathname.split('/').at(-1)!;
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).endsWith(name);
        } catch {
          return false; // closed meanwhile
        }
      }).length;
    for (let n = 0; n < 20; n++) {
      const { status, headers } = await fetch(photos[1]!, { method: 'HEAD' });
      expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
    }
    for (let n = 0; n < 20; n++) {
      const leaving = connect(origin.port, '127.0.0.1');
      leaving.write(`GET ${new URL(photos[1]!).pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await once(leaving, 'readable');
      leaving.destroy();
    }
    await vi.waitFor(() => expect(open()).toBe(0), 10_000);
  },
);

test('a deletion succeeds although the file of its picture cannot be removed', async () => {
  const note = form({ title: '图', content: '<图片p_1>', pids: 'p_1', image_1: picture('png') });
  const { id, photos } = (await origin.post('/v2/notes', 'alice', note)).body;
  const file = join(origin.dataDir, new URL(photos[1]).pathname);
  rmSync(file);
  mkdirSync(file); // a directory is not removed as a file is
  expect((await origin.delete(`/v2/note/${id}`, 'alice')).status).toBe(200);
  expect((await origin.get(`/v2/note/${id}`, 'alice')).body).toMatchObject({ msg: 'target_not_found' });
});
