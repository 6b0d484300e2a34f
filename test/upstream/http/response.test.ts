import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { version } from '../../../src/package.ts';
import { json, response, xml } from '../../support/hostile.ts';
import { codesIn, startFacade } from '../../support/start-facade.ts';

const film = '{ subject(id: "7") { title summary } }';

/** A text cut after so many bytes, in quotes. */
const cut = (text: string, bytes: number) =>
  Buffer.concat([Buffer.from('"'), Buffer.from(text).subarray(0, bytes), Buffer.from('"')]);
const withSummary = (summary: Buffer) =>
  Buffer.concat([Buffer.from('{"id":"7","title":"活着","summary":'), summary, Buffer.from('}')]);
const ofJson = (body: Buffer) => response(200, 'application/json', body);

describe('a text that was cut in the middle of a character', () => {
  test.each([
    ['after the first of three bytes', cut('福贵', 4), '福\ufffd'],
    ['after the second of three bytes', cut('福贵', 5), '福\ufffd'],
    ['after the third of four bytes', cut('福😀', 6), '福\ufffd'],
    ['after the first of two bytes', cut('é', 1), '\ufffd'],
    [
      'and does not begin with a whole character',
      Buffer.concat([Buffer.from('"'), Buffer.from('贵').subarray(1), Buffer.from('福"')]),
      '\ufffd\ufffd福',
    ],
  ])('costs that text alone: %s', async (_, summary, shown) => {
    const { books, execute } = await startFacade();
    books.behave(ofJson(withSummary(summary)));
    expect(await execute(film)).toEqual({ data: { subject: { title: '活着', summary: shown } } });
  });

  test('costs no other item of its page', async () => {
    const { books, execute } = await startFacade();
    const items = ['活着', '许三观'].map((title, at) =>
      Buffer.concat([Buffer.from(`{"id":"${at}","title":`), cut(title, 7 - at * 3), Buffer.from('}')]),
    );
    books.behave(
      ofJson(
        Buffer.concat([
          Buffer.from('{"total":2,"subjects":['),
          items[0]!,
          Buffer.from(','),
          items[1]!,
          Buffer.from(']}'),
        ]),
      ),
    );
    const { data, errors } = await execute('{ top250 { nodes { id title } } }');
    expect(errors).toBeUndefined();
    expect(data.top250.nodes).toEqual([
      { id: 'Subject:0', title: '活着' },
      { id: 'Subject:1', title: '许\ufffd' },
    ]);
  });

  test('is read in Atom too', async () => {
    const { events, execute } = await startFacade();
    const [before, after] = [
      '<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/7</id><title>展',
      '</title></entry>',
    ];
    events.behave(xml(Buffer.concat([Buffer.from(before), Buffer.from('览').subarray(0, 2), Buffer.from(after)])));
    expect(await execute('{ event(id: "7") { id title } }')).toEqual({
      data: { event: { id: 'Event:7', title: '展\ufffd' } },
    });
  });
});

test.each([
  ['GBK', Buffer.from([0xbb, 0xee, 0xd7, 0xc5, 0xb8, 0xa3, 0xb9, 0xf3])],
  ['Latin-1', Buffer.from('déjà vu à Noël', 'latin1')],
])('a body in %s is no page of broken characters, but an invalid response', async (_, text) => {
  const { books, execute } = await startFacade();
  books.behave(ofJson(Buffer.concat([Buffer.from('{"id":"7","title":"x","summary":"'), text, Buffer.from('"}')])));
  expect(codesIn(await execute(film))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
});

/** In GBK, which the bytes of the first two are not valid UTF-8 in, and those of the last are by chance. */
const inGbk: [title: string, bytes: number[]][] = [
  ['中国', [0xd6, 0xd0, 0xb9, 0xfa]],
  ['上海', [0xc9, 0xcf, 0xba, 0xa3]],
  ['鲁迅', [0xc2, 0xb3, 0xd1, 0xb8]],
];
const around = (before: string, text: readonly number[], after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from(text), Buffer.from(after)]);
const jsonOf = (title: readonly number[]) => around('{"id":"7","title":"', title, '"}');
const entryOf = (title: readonly number[], declaration = '') =>
  around(
    `${declaration}<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/7</id><title>`,
    title,
    '</title></entry>',
  );
const titleOf = '{ subject(id: "7") { title } }';
const eventTitle = '{ event(id: "7") { title } }';

describe('a declared charset', () => {
  test.each(inGbk)('of JSON is decoded: %s', async (title, bytes) => {
    const { books, execute } = await startFacade();
    books.behave(response(200, 'application/json; charset=GBK', jsonOf(bytes)));
    expect((await execute(titleOf)).data).toEqual({ subject: { title } });
  });

  test.each(inGbk)('of Atom is decoded, in the header or the XML declaration: %s', async (title, bytes) => {
    const { events, execute } = await startFacade();
    events.behave(response(200, 'application/atom+xml; charset=gb2312', entryOf(bytes)));
    expect((await execute(eventTitle)).data).toEqual({ event: { title } });
    events.behave(response(200, 'application/atom+xml', entryOf(bytes, '<?xml version="1.0" encoding="GBK"?>')));
    expect((await execute(eventTitle)).data).toEqual({ event: { title } });
  });

  test.each([
    ['iso-8859-1', Buffer.from('{"id":"7","title":"Amélie"}', 'latin1')],
    ['utf-16', Buffer.from('\ufeff{"id":"7","title":"Amélie"}', 'utf16le')],
  ])('is decoded whatever it is: %s', async (charset, body) => {
    const { books, execute } = await startFacade();
    books.behave(response(200, `application/json; charset=${charset}`, body));
    expect((await execute(titleOf)).data).toEqual({ subject: { title: 'Amélie' } });
  });

  test('is decoded where the bytes of a character arrive in two pieces', async () => {
    const { books, execute } = await startFacade();
    const body = jsonOf(inGbk[0]![1]);
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=gbk\r\ncontent-length: ${body.length}\r\n\r\n`;
    const at = body.indexOf(0xd6) + 1;
    books.behave((socket) => {
      socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, at)]));
      setTimeout(() => socket.write(body.subarray(at)), 20);
    });
    expect((await execute(titleOf)).data).toEqual({ subject: { title: '中国' } });
  });

  test('that is unknown does no harm to a body in UTF-8', async () => {
    const { books, execute } = await startFacade();
    books.behave(response(200, 'application/json; charset=x-martian', Buffer.from('{"id":"7","title":"活着"}')));
    expect((await execute(titleOf)).data).toEqual({ subject: { title: '活着' } });
  });

  test.each(['iso-8859-1', 'windows-1252'])(
    'that servers add by default does no harm to UTF-8: %s',
    async (charset) => {
      const { books, execute } = await startFacade();
      books.behave(response(200, `text/html; charset=${charset}`, Buffer.from('{"id":"7","title":"活着"}')));
      expect((await execute(titleOf)).data).toEqual({ subject: { title: '活着' } });
    },
  );

  test.each([
    ['unknown', 'x-martian', jsonOf([0xd6, 0xd0])],
    ['another than that of the bytes', 'gbk', jsonOf([0xd6, 0x20, 0xff, 0xff])],
    ['UTF-16 with half a character', 'utf-16le', Buffer.from('{"id":"7","title":"\ud83d"}', 'utf16le')],
  ])('that is %s makes an invalid response, and no broken characters', async (_, charset, body) => {
    const { books, execute } = await startFacade();
    books.behave(response(200, `application/json; charset=${charset}`, body));
    expect(codesIn(await execute(titleOf))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });

  test('does not lift the limit of a body', async () => {
    const { books, execute } = await startFacade({ maxJsonBytes: '100' });
    const body = Buffer.from(`{"id":"7","title":"x","summary":"${'x'.repeat(40)}"}`, 'utf16le');
    books.behave(response(200, 'application/json; charset=utf-16le', body));
    expect(codesIn(await execute(titleOf))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});

describe('a content coding', () => {
  const body = '{"id":"7","title":"活着"}';
  test.each([
    'gzip, identity',
    'identity, gzip',
    'identity,x-gzip',
    ' GZIP , Identity ',
    'gzip,',
    'identity, gzip, identity',
  ])('is gzip beside identity: %s', async (coding) => {
    const { books, execute } = await startFacade();
    books.behave(response(200, 'application/json', gzipSync(body), { 'content-encoding': coding }));
    expect((await execute(film)).data).toEqual({ subject: { title: '活着', summary: null } });
  });
  test.each(['identity, identity', 'identity', ',', ''])('may be none: %j', async (coding) => {
    const { books, execute } = await startFacade();
    books.behave(json(body, 200, { 'content-encoding': coding }));
    expect((await execute(film)).data).toEqual({ subject: { title: '活着', summary: null } });
  });
  test.each(['gzip, br', 'br, identity', 'gzip, gzip', 'deflate'])('is rejected otherwise: %s', async (coding) => {
    const { books, execute } = await startFacade();
    books.behave(response(200, 'application/json', gzipSync(body), { 'content-encoding': coding }));
    expect(codesIn(await execute(film))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});

test('calls name the product and its version', async () => {
  const { books, events, execute } = await startFacade();
  await execute(`{ subject(id: "7") { title } event(id: "7") { title } }`);
  const agents = [...books.requests, ...events.requests].map(({ headers }) => headers['user-agent']);
  expect(agents).toEqual(Array(2).fill(`catalog-graphql/${version}`));
});
