import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AtomError, readers, termOf, typeOf, writers } from '../../src/atom/media.ts';
import type { AtomPerson, EventDraft, EventRecord, Feed } from '../../src/api/event.ts';
import { recordedText } from '../support/recorded.ts';
import { expectTimeToGrowWith } from '../support/growth.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/atom/${name}.xml`, import.meta.url), 'utf8');

describe('reading', () => {
  test('accepts any prefix, order, CDATA and reference, and keeps texts unchanged', () => {
    expect(readers.event(fixture('event-oddities'))).toEqual({
      id: '77',
      title: 'Tea & <b>Poems</b> &amp; 雨夜 R & D',
      term: 'http://www.douban.com/2007#event.exhibit',
      scheme: 's',
      author: { name: 'Willow', links: { icon: 'https://img.example/i.jpg' } },
      links: { alternate: 'https://www.example/event/77/' },
      summary: '',
      content: 'one two',
      wishers: '00123',
      startTime: '2031-05-01T19:30:00+08:00',
      endTime: '2031-05-01T21:00:00+08:00',
      where: '星桥 文化馆\n二楼',
    });
  });

  test('finds elements by local name if namespaces are missing or undeclared, and distinguishes sites from people', () => {
    expect(readers.event(fixture('event-unbound'))).toEqual({
      id: '78',
      title: 'No namespaces at all',
      author: {
        id: 'lantern',
        name: 'Lantern House',
        type: 'site',
        links: { alternate: 'https://www.example/site/lantern', self: 'https://api.example/site/lantern' },
      },
      links: {},
      status: 'participate',
      location: { id: '118', name: 'Rivertown' },
      startTime: '2031-05-01T19:30:00+08:00',
      endTime: '2031-05-01T21:00:00+08:00',
    });
  });

  test('has null for people without an id, which keeps their places, and accepts both spellings of OpenSearch', () => {
    expect(readers.personFeed(fixture('people-feed'))).toEqual({
      title: 'People',
      links: {},
      startIndex: 10,
      itemsPerPage: 2,
      totalResults: 158,
      entries: [
        {
          id: '00123',
          uid: '00123',
          signature: 'by the river',
          name: 'Fern',
          type: 'user',
          content: '',
          links: {},
          location: { id: '128501', name: 'Rivertown' },
        },
        null,
        { id: '9', name: 'Moss', type: 'user', links: { homepage: 'http://http://moss.example/' } },
      ],
    });
  });

  test('has null for events without an id', () => {
    expect(readers.eventFeed(fixture('event-feed'))).toEqual({
      author: { id: '9', name: 'Moss', type: 'user', links: {} },
      links: { alternate: 'https://www.example/people/9/events' },
      itemsPerPage: 20,
      entries: [{ id: '1', title: 'One', links: {} }, null],
    });
  });

  test('reads the small bodies in any namespace or none', () => {
    expect(readers.reason('<entry><content> so <![CDATA[& so]]> </content></entry>')).toEqual({ reason: 'so & so' });
    expect(readers.reason('<entry xmlns="urn:x"><content/></entry>')).toEqual({ reason: '' });
    expect(readers.result('<e:entry xmlns:e="urn:y"><e:result>OK</e:result></e:entry>')).toEqual({ result: 'OK' });
  });

  test.each([
    ['an empty text', ''],
    ['white space', ' \n '],
    ['plain text', 'Bad Gateway'],
    ['HTML', '<!doctype html><html><body>busy</body></html>'],
    ['an HTML root', '<html><entry><id>1</id></entry></html>'],
    ['another root', '<feed xmlns="http://www.w3.org/2005/Atom"/>'],
    ['JSON', '{"id":"1"}'],
    ['a DOCTYPE', '<!DOCTYPE entry><entry><id>1</id></entry>'],
    ['an entity declaration', '<!DOCTYPE entry [<!ENTITY a "b">]><entry><id>&a;</id></entry>'],
    ['a declaration inside', '<entry><id>1</id><!ENTITY a "b"></entry>'],
    ['a truncated element', '<entry><id>1</id><title>T'],
    ['a truncated tag', '<entry><id>1</id><title'],
    ['a truncated attribute', '<entry><id>1</id><link href="http:'],
    ['truncated CDATA', '<entry><id>1</id><title><![CDATA[T'],
    ['a truncated comment', '<entry><id>1</id><!-- so'],
    ['crossing tags', '<entry><id>1</title></id></entry>'],
    ['two roots', '<entry><id>1</id></entry><entry><id>2</id></entry>'],
    ['two empty roots', '<entry/><entry/>'],
    ['text after the root', '<entry><id>1</id></entry> and more'],
    ['text before the root', 'HTTP <entry><id>1</id></entry>'],
    ['a duplicate attribute', '<entry a="1" a="2"><id>1</id></entry>'],
    ['an attribute without quotes', '<entry a=1><id>1</id></entry>'],
    ['a control character', '<entry><id>1</id><title>a\u0001</title></entry>'],
    ['a reference to a control character', '<entry><id>1</id><title>&#1;</title></entry>'],
    ['a reference to a surrogate', '<entry><id>1</id><title>&#xD800;</title></entry>'],
    ['no id', '<entry><title>T</title></entry>'],
    ['deep nesting', `<entry><id>1</id>${'<b>'.repeat(41)}${'</b>'.repeat(41)}</entry>`],
  ])('rejects %s', (_, text) => {
    expect(() => readers.event(text)).toThrow(AtomError);
  });

  test('keeps names of Object.prototype out of records', () => {
    const event = readers.event(
      '<entry toString="1"><id>1</id><db:attribute name="__proto__">x</db:attribute><valueOf>y</valueOf></entry>',
    );
    expect(event).toEqual({ id: '1', title: '', links: {} });
  });

  test.each([
    ['many references', (n: number) => `<entry><id>1</id><title>${'&amp;&#38;'.repeat(n)}</title></entry>`],
    ['bare ampersands', (n: number) => `<entry><id>1</id><title>${'&'.repeat(n)}</title></entry>`],
    ['open comments', (n: number) => `<entry>${'<!--'.repeat(n)}`],
    ['open CDATA', (n: number) => `<entry>${'<![CDATA['.repeat(n)}`],
    ['open tags', (n: number) => '<a '.repeat(n)],
    ['white space', (n: number) => `<entry><id>1</id><title>${' \n'.repeat(n)}x</title></entry>`],
    ['spaces in a tag', (n: number) => `<entry ${' '.repeat(n)}><id>1</id></entry>`],
    ['quotes', (n: number) => `<entry ${'"'.repeat(n)}`],
    ['slashes in an id', (n: number) => `<entry><id>${'/'.repeat(n)}</id></entry>`],
    ['siblings', (n: number) => `<entry><id>1</id>${'<link/>'.repeat(n / 4)}</entry>`],
  ])('reads or rejects %s in linear time', async (_, make) => {
    await expectTimeToGrowWith(100_000, (n) => {
      try {
        readers.event(make(n));
      } catch (error) {
        expect(error).toBeInstanceOf(AtomError);
      }
    });
  });
});

describe('writing', () => {
  const event: EventRecord = {
    id: '77',
    title: '<&>"\']]>',
    term: termOf('music'),
    scheme: 'http://www.douban.com/2007#kind',
    author: {
      id: '9',
      name: 'Moss',
      type: 'user',
      links: { self: 'https://api.example/people/9', alternate: 'https://www.example/people/9/' },
    },
    links: {
      self: 'https://api.example/event/77',
      alternate: 'https://www.example/event/77/',
      image: 'https://img.example/77.jpg?a=1&b="2"',
    },
    summary: 'short',
    content: 'first line\r\n\tsecond  line\n\n　　third',
    invite_only: 'no',
    can_invite: 'yes',
    participants: '12',
    wishers: '0',
    status: 'participant',
    location: { id: 'rivertown', name: 'Rivertown' },
    startTime: '2031-05-01T19:30:00+08:00',
    endTime: '2031-05-01T21:00:00+08:00',
    where: 'Rivertown "Old\n\tMill"',
    point: '39.9 116.4',
  };

  test('writes an event as the interface specifies it', () => {
    const text = writers.event(event);
    expect(text).toContain('xmlns="http://www.w3.org/2005/Atom"');
    expect(text).toContain('<id>https://api.example/event/77</id>');
    expect(text).toContain(
      '<category scheme="http://www.douban.com/2007#kind" term="http://www.douban.com/2007#event.music"/>',
    );
    expect(text).toContain('<db:attribute name="status">participant</db:attribute>');
    expect(text).toContain('<db:location id="rivertown">Rivertown</db:location>');
    expect(text).toContain('<gd:when endTime="2031-05-01T21:00:00+08:00" startTime="2031-05-01T19:30:00+08:00"/>');
    expect(text).toContain('first line&#13;');
    expect(readers.event(text)).toEqual(event);
  });

  test('writes the elements of a feed as the interface specifies them', () => {
    const feed: Feed<EventRecord> = {
      title: 'T',
      links: { alternate: 'https://www.example/' },
      startIndex: 1,
      itemsPerPage: 20,
      totalResults: 1,
      entries: [event],
    };
    const text = writers.eventFeed(feed);
    expect(text).toMatch(/<opensearch:startIndex>1<.*<opensearch:itemPerPage>20<.*<opensearch:totalResults>1</s);
    expect(readers.eventFeed(text)).toEqual(feed);
    expect(writers.eventFeed({ links: {}, entries: [] })).not.toContain('totalResults');
  });

  test('round-trips every text that XML can represent', () => {
    const word = fc
      .string({
        unit: fc.oneof(
          fc.constantFrom(...'<&>"\']]>\n\r\t &#;x0'),
          fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        ),
      })

      .map((text) =>
        text
          .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
          .replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, ''),
      );
    const person: fc.Arbitrary<AtomPerson> = fc.record({
      id: fc.constant('9'),
      uid: fc.constant('moss'),
      signature: fc.constant('green'),
      name: word,
      content: word,
      links: fc.constant({}),
    });
    const draft: fc.Arbitrary<EventDraft> = fc.record({
      title: word,
      term: word,
      content: word,
      invite_only: fc.constantFrom('yes', 'no'),
      can_invite: fc.constantFrom('yes', 'no'),
      startTime: word,
      endTime: word,
      where: word,
    });
    fc.assert(
      fc.property(draft, (written) => void expect(readers.eventDraft(writers.eventDraft(written))).toEqual(written)),
    );
    fc.assert(
      fc.property(word, (reason) => void expect(readers.reason(writers.reason({ reason }))).toEqual({ reason })),
    );
    fc.assert(
      fc.property(
        fc.array(person),
        (entries) =>
          void expect(readers.personFeed(writers.personFeed({ links: {}, entries }))).toEqual({ links: {}, entries }),
      ),
    );
    fc.assert(
      fc.property(
        word,
        word,
        (title, where) =>
          void expect(readers.event(writers.event({ ...event, title, where }))).toEqual({ ...event, title, where }),
      ),
    );
  });

  test.each(['\u0000', '\u0008', '\u001f', '\ufffe', '\ud800', 'a\udc00'])(
    'rejects %j, which XML cannot represent',
    (title) => {
      expect(() => writers.event({ ...event, title })).toThrow(AtomError);
      expect(() => writers.event({ ...event, where: title })).toThrow(AtomError);
    },
  );

  test('throws nothing but AtomError on any text', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            '<',
            '>',
            '/',
            '!',
            '[',
            ']',
            '-',
            '"',
            '=',
            ' ',
            '&',
            ';',
            '#',
            'entry',
            'id',
            'CDATA',
            '?',
          ),
        }),
        (text) => {
          try {
            readers.event(text);
          } catch (error) {
            expect(error).toBeInstanceOf(AtomError);
          }
        },
      ),
    );
  });
});

test('both spellings of an exhibition are known', () => {
  expect(typeOf('http://www.douban.com/2007#event.exhibit')).toBe('exhibition');
  expect(typeOf(termOf('exhibition'))).toBe('exhibition');
  expect(typeOf('http://www.douban.com/2007#event.circus')).toBeUndefined();
});

describe('recorded documents', () => {
  test.each(['event-1.xml', 'event-2.xml'])('%s is an event with all elements of an entry', (name) => {
    const event = readers.event(recordedText(`event/${name}`));
    expect(Object.keys(event)).toEqual(
      expect.arrayContaining([
        'id',
        'title',
        'term',
        'author',
        'summary',
        'content',
        'album',
        'location',
        'startTime',
        'where',
      ]),
    );
    expect(event.id).toMatch(/^\d+$/);
    expect(readers.event(writers.event(event))).toEqual(event);
  });

  test('feeds have their numbers and entries', () => {
    expect(readers.eventFeed(recordedText('event/user-events-1.xml'))).toMatchObject({
      startIndex: 3,
      itemsPerPage: 1,
      totalResults: 46,
      entries: [{ status: 'wish' }],
    });
    const people = readers.personFeed(recordedText('event/people-feed-1.xml'));
    expect(people).toMatchObject({ startIndex: 10, itemsPerPage: 2, totalResults: 158 });
    expect(people.entries).toHaveLength(3);
  });

  test('request bodies of clients are read', () => {
    expect(readers.eventDraft(recordedText('event/create-request-1.xml'))).toMatchObject({
      term: termOf('music'),
      invite_only: 'yes',
      startTime: '1990-11-22T12:00:00+08:00',
    });
    expect(readers.reason(recordedText('event/delete-request-1.xml')).reason).not.toBe('');
  });
});
