import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { entry } from './documents.ts';

const links = (fields: string) => `{ event(id: "7") { ${fields} } }`;

/** The fields of event 7. `lenient`: the document has to be mended. */
async function eventOf(inside: string, fields: string, { attributes = '', lenient = false } = {}) {
  const { events, execute } = facade();
  const text = entry('7', inside + (lenient ? '<summary>a & b</summary>' : '')).replace(
    '<entry ',
    `<entry ${attributes} `,
  );
  events.intercept({ path: () => true }).reply(200, text, { headers: { 'content-type': 'application/atom+xml' } });
  const { data, errors } = await execute(links(fields));
  expect(errors).toBeUndefined();
  return data.event as Record<string, unknown>;
}

const page = 'https://www.example/event/7/';
const html = `<link rel="alternate" type="text/html" href="${page}"/>`;
const json = '<link rel="alternate" type="application/json" href="https://api.example/event/7.json"/>';
const app = '<link rel="alternate" href="app://event/7"/>';

describe.each([
  ['well-formed', false],
  ['lenient', true],
])('a %s entry', (_, lenient) => {
  test.each<[string, string, string, string | null]>([
    ['HTML after JSON', json + html, '', page],
    ['HTML with a charset, after JSON', `${json}<link type="text/html; charset=utf-8" href="${page}"/>`, '', page],
    ['a page after the link of an app', app + html, '', page],
    ['JSON, if there is nothing else', json, '', 'https://api.example/event/7.json'],
    ['JSON after the link of an app', app + json, '', 'https://api.example/event/7.json'],
    ['the first of two pages', html + html.replace('/7/', '/8/'), '', page],
    ['nothing, if there is only an app', app, '', null],
    [
      'a path, by the base of the entry',
      '<link rel="alternate" href="/event/7/"/>',
      'xml:base="https://www.example/a/"',
      page,
    ],
    ['a path, by the base of the link', '<link href="7/" xml:base="https://www.example/event/"/>', '', page],
    ['a path, by both bases', '<link href="7/" xml:base="/event/"/>', 'xml:base="https://www.example/a/b"', page],
    ['a path, without a base', '<link href="/event/7/"/>', '', 'http://events.example/event/7/'],
    ['rel as an IRI', `<link rel="http://www.iana.org/assignments/relation/alternate" href="${page}"/>`, '', page],
    ['rel in capitals', `<link rel="Alternate" href="${page}"/>`, '', page],
    ['no rel', `<link href="${page}"/>`, '', page],
  ])('has as its page %s', async (__, inside, attributes, webUrl) => {
    expect(await eventOf(inside, 'webUrl', { attributes, lenient })).toEqual({ webUrl });
  });

  test('has a picture by its base, and the first that is on the web', async () => {
    const inside = '<link rel="image" href="data:image/png;base64,"/><link rel="IMAGE" href="pic/7.jpg"/>';
    expect(await eventOf(inside, 'imageUrl', { attributes: 'xml:base="https://img.example/x/"', lenient })).toEqual({
      imageUrl: 'https://img.example/x/pic/7.jpg',
    });
  });

  test.each([
    ['<div><p>one</p><p>two<br/>three</p></div>', 'one\ntwo\nthree'],
    ['<div>\n  <p>one</p>\n  <p>two<br/>\n three</p>\n</div>', 'one\ntwo\nthree'],
    ['<h1>head</h1>text<ul><li>a</li><li>b</li></ul>', 'head\ntext\na\nb'],
    ['<table><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></table>', 'a\nb\nc'],
    ['in<b>si</b>de <i>a</i> word', 'inside a word'],
    ['a<br/><br/>b', 'a\n\nb'],
    ['a<hr/>b', 'a\nb'],
    ['a<br/> <p/> <br/>b', 'a\n\nb'],
    ['<x:p xmlns:x="http://www.w3.org/1999/xhtml">one</x:p><x:p xmlns:x="y">two</x:p>', 'one\ntwo'],
    ['<P>one</P>two', 'one\ntwo'],
    ['plain\n  text', 'plain\n  text'],
  ])('breaks lines where its markup does: %s', async (markup, content) => {
    expect(await eventOf(`<content type="xhtml">${markup}</content>`, 'content', { lenient })).toEqual({ content });
  });

  test.each([
    ['AT&amp;amp;T &lt;b&gt;bold&lt;/b&gt;', 'AT&T bold'],
    ['<![CDATA[AT&amp;T <b class="a>b">bold</b>]]>', 'AT&T bold'],
    ['&lt;p&gt;one&lt;P&gt;two&lt;br&gt;three&lt;ul&gt;&lt;li&gt;four', 'one\ntwo\nthree\nfour'],
    ['&lt;div&gt;\n &lt;p&gt;one&lt;/p&gt;\n&lt;/div&gt;', 'one'],
    ['&amp;eacute;&amp;nbsp;&amp;#183;&amp;#xB7; &amp;copy 2012', 'é\u00a0·· © 2012'],
    ['1 &lt; 2 &amp;amp;&amp;amp; 3 &lt;= 4 &amp;who;', '1 < 2 && 3 <= 4 &who;'],
    ['a&lt;!-- &lt;b&gt; --&gt;b&lt;script&gt;if (1 &lt; 2) &lt;/SCRIPT&gt;c&lt;style&gt;x', 'abc'],
    ["it's &lt;i title='a&gt;b'&gt;in&lt;/i&gt;side&amp;#1;", "it's inside"],
    ['a&lt;br&gt;&lt;br/&gt;b&lt;a href=x', 'a\n\nb'],
    ['a&lt;constructor&gt;b', 'ab'],
    ['plain\n  text', 'plain\n  text'],
  ])('has the text of its HTML: %s', async (markup, content) => {
    for (const type of ['html', 'text/html', ' HTML ', 'text/html; charset=utf-8'])
      expect(await eventOf(`<content type="${type}">${markup}</content>`, 'content', { lenient })).toEqual({ content });
  });

  test('has the text of its title and summary in HTML, and plain text as it is written', async () => {
    const written = '&lt;b&gt;a&lt;/b&gt; &amp;amp; b';
    const inside = `<title type="html">${written}</title><summary type="html">${written}</summary><content type="text">${written}</content>`;
    const event = await eventOf(inside, 'title content', { lenient });
    expect(event).toMatchObject({ content: '<b>a</b> &amp; b' });
    const { events, execute } = facade();
    const text = entry('7').replace(/<title>.*<\/title>/, `<title type="html">${written}</title>`);
    const document = lenient ? text.replace('</title>', ' & c</title>') : text;
    events
      .intercept({ path: '/event/7' })
      .reply(200, document, { headers: { 'content-type': 'application/atom+xml' } });
    expect((await execute('{ event(id: "7") { title } }')).data).toEqual({
      event: { title: lenient ? 'a & b & c' : 'a & b' },
    });
  });

  test.each([
    ['times', '<gd:when/><gd:when startTime="2012-09-02T10:00:00+08:00"/>', 'startsAt', '2012-09-02T10:00:00+08:00'],
    [
      'times of which the first is named and empty',
      '<gd:when startTime="" endTime=" "/><gd:when startTime="2012-09-02T10:00:00+08:00"/>',
      'startsAt',
      '2012-09-02T10:00:00+08:00',
    ],
    ['places', '<gd:where/><gd:where valueString="here"/>', 'place', 'here'],
    ['places of which the first is empty', '<gd:where valueString=""/><gd:where valueString="here"/>', 'place', 'here'],
    ['places of which both are given', '<gd:where valueString="a"/><gd:where valueString="b"/>', 'place', 'a'],
    ['texts', '<content/><content>here</content>', 'content', 'here'],
    ['texts of which both are given', '<content>a</content><content>b</content>', 'content', 'a'],
  ])('has the first of several that is not empty: %s', async (_, inside, field, value) => {
    expect(await eventOf(inside, field, { lenient })).toEqual({ [field]: value });
  });

  test('does not mix the times of two elements', async () => {
    const inside = '<gd:when endTime="2012-09-02T10:00:00+08:00"/><gd:when startTime="2013-09-02T10:00:00+08:00"/>';
    expect(await eventOf(inside, 'startsAt endsAt', { lenient })).toEqual({
      startsAt: null,
      endsAt: '2012-09-02T10:00:00+08:00',
    });
  });

  test.each<[string, string | null, string | null, boolean]>([
    ['startTime="2012-09-02" endTime="2012-09-02"', '2012-09-02T00:00:00+08:00', '2012-09-03T00:00:00+08:00', true],
    ['startTime="2012-09-02"', '2012-09-02T00:00:00+08:00', '2012-09-03T00:00:00+08:00', true],
    ['startTime="2012-09-02" endTime="2012-12-31"', '2012-09-02T00:00:00+08:00', '2013-01-01T00:00:00+08:00', true],
    ['startTime="2999-09-02"', '2999-09-02T00:00:00+08:00', '2999-09-03T00:00:00+08:00', false],
    ['startTime="2012-02-31"', null, null, false],
    ['startTime="2012-09-02T10:00:00+08:00"', '2012-09-02T10:00:00+08:00', null, false],
    [
      'startTime="2012-09-02 10:00:00,5 +0800" endTime="2012-09-02 12:00:00 +0800"',
      '2012-09-02T10:00:00+08:00',
      '2012-09-02T12:00:00+08:00',
      true,
    ],
    ['endTime="2012-09-02T24:00:00+08:00"', null, '2012-09-03T00:00:00+08:00', true],
    ['endTime="20120902T200000+0800"', null, '2012-09-02T20:00:00+08:00', true],
  ])('has these times: %s', async (when, startsAt, endsAt, isPast) => {
    const event = await eventOf(`<gd:when ${when}/>`, 'startsAt endsAt isPast', { lenient });
    expect(event).toEqual({ startsAt, endsAt, isPast });
  });

  test.each([
    'urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a',
    'urn:event:9',
    'tag:example.com,2012:event-9',
    'tag:x,2012:a/9',
  ])('is found by its self link if its id is a name: %s', async (name) => {
    const { events, execute } = facade();
    const text = entry(
      '7',
      '<link rel="self" href="http://api.example/event/7"/>' + (lenient ? '<summary>a & b</summary>' : ''),
    );
    const named = text.replace(/<id>.*<\/id>/, `<id>${name}</id>`);
    events.intercept({ path: '/event/7' }).reply(200, named, { headers: { 'content-type': 'application/atom+xml' } });
    expect((await execute('{ event(id: "7") { id sourceId } }')).data).toEqual({
      event: { id: 'Event:7', sourceId: '7' },
    });
  });
});

test.each([
  ['a&middot;b', 'a·b'],
  ['&mdash;&nbsp;&hellip;&times;', '—\u00a0…×'],
  ['&eacute;&Eacute;&uuml;&szlig;&oelig;&Scaron;', 'éÉüßœŠ'],
  ['&zwnj;&lrm;&spades;&thetasym;&there4;&frac12;', '\u200c\u200e♠ϑ∴½'],
  ['&CounterClockwiseContourIntegral;&Aopf;', '∳𝔸'],
  ['&amp;middot; &lt;b&gt; &#183; &#xB7;', '&middot; <b> · ·'],
  ['&who; &middot &;', '&who; &middot &;'],
])('names of characters in HTML are read: %s', async (written, title) => {
  const { events, execute } = facade();
  const text = entry('7').replace(/<title>.*<\/title>/, `<title>${written}</title>`);
  events.intercept({ path: '/event/7' }).reply(200, text, { headers: { 'content-type': 'application/atom+xml' } });
  expect((await execute('{ event(id: "7") { title } }')).data).toEqual({ event: { title } });
});

test('a feed gives its base to its entries', async () => {
  const { events, execute } = facade();
  const inner = entry('7', '<link href="7/"/>').replace('<entry ', '<entry xml:base="event/" ');
  const text = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://www.example/">${inner}</feed>`;
  events.intercept({ path: () => true }).reply(200, text, { headers: { 'content-type': 'application/atom+xml' } });
  const { data } = await execute('{ city(id: "beijing") { events { nodes { webUrl } } } }');
  expect(data.city.events.nodes).toEqual([{ webUrl: page }]);
});
