import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readers } from '../../src/atom/media.ts';
import { form, picture, service } from '../support/service.ts';

const origin = await service();
const EVENT = '30134553';

/** The body of the response to a raw request: other clients may send any Host and any request target. */
async function bodyOf(
  host: string,
  { at = origin, target = `/event/${EVENT}` }: { at?: { port: number }; target?: string } = {},
): Promise<string> {
  const socket = connect(at.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
const selfIn = (body: string) => /<id>([^<]*)<\/id>/.exec(body)?.[1];
/** Every URL in a text that is neither a web page of the demo nor an XML namespace. */
const addressesIn = (text: string) =>
  (text.match(/https?:\/\/[^\s"'<>\\]+/g) ?? []).filter(
    (url) => !/^https?:\/\/([\w-]+\.)*(example|douban\.com|w3\.org|google\.com|a9\.com|georss\.org)(\/|$)/.test(url),
  );

describe('URLs in records begin with', () => {
  test.each([
    ['localhost:4001', 'http://localhost:4001'],
    ['catalog.test', 'http://catalog.test'],
    ['origin_1:4001', 'http://origin_1:4001'],
    ['[::1]:4001', 'http://[::1]:4001'],
    ['CATALOG.test:80', 'http://catalog.test'],
  ])('the Host header of the request: %s', async (host, base) => {
    expect(selfIn(await bodyOf(host))).toBe(`${base}/event/${EVENT}`);
    const book = await bodyOf(host, { target: '/v2/book/6082808' });
    for (const url of addressesIn(book)) expect(url.startsWith(`${base}/`), url).toBe(true);
    expect(book).toContain(`"url":"${base}/v2/book/6082808"`);
  });

  test.each(['0.0.0.0:4001', '0:4001', '[::]:4001', ''])(
    'the address of the socket if the Host header is not a reachable address: %j',
    async (host) => {
      expect(selfIn(await bodyOf(host, { target: `http://any.test/event/${EVENT}` }))).toBe(
        `http://127.0.0.1:${origin.port}/event/${EVENT}`,
      );
    },
  );

  test.each([
    '"><script>alert(1)</script>',
    'evil.test/path',
    'evil.test?q',
    'evil.test#f',
    'user@evil.test',
    'user:word@evil.test',
    'evil.test:99999',
    'evil test',
    'evil.test,other.test',
    'é.test',
    '[::1',
    'evil.test.',
    `${'a'.repeat(300)}.test`,
  ])('the address of the socket if the Host header is invalid: %s', async (host) => {
    for (const target of [`/event/${EVENT}`, `http://any.test/event/${EVENT}`]) {
      const body = await bodyOf(host, { target });
      expect(body).not.toContain(host);
      expect(addressesIn(body).filter((url) => !url.startsWith(`http://127.0.0.1:${origin.port}/`))).toEqual([]);
    }
  });

  test('PUBLIC_URL if it is set, whatever the Host header is', async () => {
    const base = 'https://catalog.test/api';
    const set = await service({ publicUrl: base });
    expect(selfIn(await bodyOf('evil.test', { at: set }))).toBe(`${base}/event/${EVENT}`);
    const event = readers.event((await set.get(`/event/${EVENT}`)).text);
    expect(event.links.self).toBe(`${base}/event/${EVENT}`);
    expect(event.links.image!.startsWith(`${base}/pictures/`)).toBe(true);
    const draft = form({ title: '图', content: '<图片p_1>', pids: 'p_1', image_1: picture() });
    const note = (await set.post('/v2/notes', 'alice', draft)).body;
    expect(note.photos[1].startsWith(`${base}/pictures/`)).toBe(true);
    const html = (await set.get(`/v2/note/${note.id}?format=html_full`, 'alice')).body;
    expect(html.content).toContain(`<img src="${base}/pictures/`);
    // The paths of the service itself do not change, only the URLs in its records.
    expect((await set.get(new URL(note.photos[1]).pathname.replace('/api', ''))).status).toBe(200);
  });
});

test('a service that listens on all addresses never puts 0.0.0.0 into its URLs', async () => {
  const everywhere = await service({ host: '0.0.0.0' });
  for (const path of [`/event/${EVENT}`, '/v2/book/6082808', '/v2/movie/top250?count=5', `/event/${EVENT}/wishers`]) {
    for (const host of ['0.0.0.0:4001', `127.0.0.1:${everywhere.port}`]) {
      const body = await bodyOf(host, { at: everywhere, target: path });
      expect(body).not.toContain('0.0.0.0');
      expect(body).toContain(`http://127.0.0.1:${everywhere.port}/`);
    }
  }
});
