import { readFileSync, readdirSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cityEvents, participants } from '../../bench/records.ts';
import { readAtom, readFields } from '../../src/atom/reader.ts';
import { AtomError, readers, writers } from '../../src/atom/media.ts';
import { recordedFolder, recordedText } from '../support/recorded.ts';
import { service } from '../support/service.ts';
import { parseFields } from './tree-reader.ts';
import { thorough } from '../support/optional.ts';

const origin = await service();

// A reader of trees is the reference: the one-pass reader rejects what it rejects, and finds the same fields, whether it has to mend or not.

const runs = Number(process.env.READER_RUNS ?? (thorough ? 1_500 : 300));
const seed = Number(process.env.READER_SEED ?? 1);

type Outcome = 'read' | 'left' | 'rejected';
const rootOf = (text: string): 'feed' | 'entry' => (/<(?:\w+:)?feed\b/.test(text.slice(0, 400)) ? 'feed' : 'entry');

/** Reads a document with both parsers; fails if they differ. */
function compare(given: string, root = rootOf(given)): Outcome {
  const text = Buffer.from(given).toString(); // lone surrogates cannot be encoded in UTF-8
  const fields = readFields(text, root);
  let parsed: unknown;
  try {
    parsed = parseFields(text, root);
  } catch (error) {
    expect(error).toBeInstanceOf(AtomError);
    expect(() => readAtom(text, root), text).toThrow(AtomError);
    return 'rejected';
  }
  const found = readAtom(text, root);
  if (!isDeepStrictEqual(found, parsed)) expect(found, text).toStrictEqual(parsed);
  return fields ? 'read' : 'left';
}

function compareAll(texts: fc.Arbitrary<string>): Record<Outcome, number> {
  const counted = { read: 0, left: 0, rejected: 0 };
  fc.assert(
    fc.property(texts, (text) => void counted[compare(text)]++),
    { numRuns: runs, seed },
  );
  return counted;
}

describe('the one-pass reader finds the same fields as a reader of trees', () => {
  test('in generated documents with everything that Atom may contain', () => {
    const { read, left, rejected } = compareAll(documents());
    expect(read).toBeGreaterThan(runs / 10); // otherwise nothing was compared
    expect(left + rejected).toBeGreaterThan(runs / 10);
  });

  test('in damaged responses of the service', () => {
    const { read, left, rejected } = compareAll(damagedDocuments());
    expect(read).toBeGreaterThan(runs / 20);
    expect(left + rejected).toBeGreaterThan(runs / 10);
  });

  const namespaces = (count: number) =>
    `<x${Array.from({ length: count }, (_, at) => ` xmlns:n${at}="urn:n"`).join('')}>`;
  const entry = (inside: string, attributes = '') =>
    `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/"${attributes}>${inside}</entry>`;

  test.each<[string, string, Outcome]>([
    ['references', entry('<title>&lt;&amp;amp;&#x96E8;&#22812;&quot;&apos;&#10;&#128;</title>'), 'read'],
    ['references in a value', entry('<link href=" a?b=&quot;1&quot;&amp;c&#9; " rel="s&#101;lf"/>'), 'read'],
    ['characters outside the BMP', entry('<title>🎬 𠀀</title><link href="🎬"/>'), 'read'],
    ['the last character of XML', entry('<title>\ufffd，</title>'), 'read'],
    ['characters of one byte to four', entry('<title>a\u007f\u0080é\u07ff\u0800雨\uffef🎬\u{10ffff}</title>'), 'read'],
    [
      'CDATA, comments and instructions',
      entry('<!-- < --><?a b?><id>1<![CDATA[ <2> &]]><!-- & -->3<?x?></id>'),
      'read',
    ],
    ['either quote', entry(`<link rel='self' href='"'/><link rel="icon" href="'>"/>`), 'read'],
    ['spaces in tags', entry('<link\n\trel="self"  href="a" /><title ></title>'), 'read'],
    ['unknown elements and attributes', entry('<x:y z:a="1" a="2">3</x:y><published>then</published>'), 'read'],
    ['a byte order mark', '\ufeff' + entry(''), 'read'],
    ['names that are not ASCII', entry('<título>1</título>'), 'left'],
    ['references in CDATA and comments', entry('<title>&nbsp;<![CDATA[&amp;]]><!-- & --></title>'), 'left'],
    ['markup in a text', entry('<title>a<b>c</b></title>'), 'read'],
    ['text between elements', entry('a<id>1</id>'), 'read'],
    [
      'texts of HTML',
      entry('<title type="html">a&amp;amp;&lt;br>b</title><content type="html"><b>a</b>&lt;</content>'),
      'read',
    ],
    ['empty elements before full ones', entry('<title/><title>2</title><id> </id><id>3</id>'), 'read'],
    ['the same element twice', entry('<title>1</title><title>2</title>'), 'read'],
    ['an element of no namespace', '<entry><id>1</id></entry>', 'read'],
    ['an element of another namespace', entry('<db:title>1</db:title><title>2</title>'), 'read'],
    ['a prefix that changes', entry('<db:uid xmlns:db="urn:x">1</db:uid>'), 'read'],
    ['a namespace that changes', entry('<title xmlns="urn:x">1</title>'), 'read'],
    ['a name with two colons', entry('<db:uid:x>1</db:uid:x>'), 'read'],
    ['a name with a leading colon', entry('<:title>1</:title>'), 'read'],
    ['an entity of HTML', entry('<title>&nbsp;</title>'), 'left'],
    ['an undeclared entity', entry('<title>&who;</title>'), 'left'],
    ['a bare ampersand', entry('<title>R & D</title>'), 'left'],
    ['a quote by reference in a value', entry(`<title>R & D</title><link rel='self' href='&apos;&#39;'/>`), 'left'],
    ['a carriage return', entry('<title>a\r\nb</title>'), 'read'],
    ['a carriage return in CDATA', entry('<title><![CDATA[a\r\nb]]></title>'), 'read'],
    ['another encoding', `<?xml version="1.0" encoding="GBK"?>${entry('')}`, 'read'],
    ['an entry in an entry', entry('<entry/>'), 'read'],
    ['a space in an end tag', entry('<title>1</title >'), 'read'],
    ['a reference interrupted by a comment', entry('<title>&am<!-- -->p;</title>'), 'left'],
    ['a DOCTYPE', `<!DOCTYPE entry>${entry('')}`, 'rejected'],
    ['a declaration inside', entry('<!ENTITY a "b">'), 'rejected'],
    ['crossing tags', entry('<title>1</id>'), 'rejected'],
    ['a tag that is not closed', entry('<title>1'), 'rejected'],
    ['a reference to a surrogate', entry('<title>&#xD800;</title>'), 'rejected'],
    ['a reference to U+0000 in an unknown attribute', entry('<x a="&#0;"/>'), 'rejected'],
    ['a reference beyond U+10FFFF', entry('<x>&#x110000;</x>'), 'rejected'],
    ['a control character in a comment', entry('<!-- \u0001 -->'), 'rejected'],
    ['a control character in an instruction', entry('<?a \u0001?>'), 'rejected'],
    ['a control character in a value', entry('<x a="\u0001"/>'), 'rejected'],
    ['a control character in CDATA', entry('<x><![CDATA[\u0001]]></x>'), 'rejected'],
    ['U+FFFF', entry('<title>\uffff</title>'), 'rejected'],
    ['a control character in the name of an element', entry('<x\u0001>1</x\u0001>'), 'rejected'],
    ['a control character in the name of an attribute', entry('<x a\u0001="1"/>'), 'rejected'],
    ['a control character in an end tag', entry('<title>1</title\u0001>'), 'rejected'],
    ['a control character between elements', entry('<id>1</id>\u0001'), 'rejected'],
    ['a control character before the root', '\u0001' + entry(''), 'rejected'],
    ['a control character after the root', entry('') + '\u0001', 'rejected'],
    ['a control character in a document to be mended', entry('<title>R & D</title><!-- \u0001 -->'), 'rejected'],
    ['U+FFFE in a comment', entry('<!-- \ufffe -->'), 'rejected'],
    ['U+FFFF in the name of an element', entry('<a\uffff>1</a\uffff>'), 'rejected'],
    ['U+FFFF in a prefix', entry('<a\uffff:id>1</a\uffff:id>'), 'rejected'],
    ['U+FFFF in the name of an attribute', entry('<x a\uffff="1"/>'), 'rejected'],
    ['U+FFFE in a value', entry('<link href="\ufffe"/>'), 'rejected'],
    ['U+FFFE', entry('<title>a\ufffe</title>'), 'rejected'],
    ['a duplicate attribute', entry('<link href="a" href="b"/>'), 'rejected'],
    ['a duplicate unknown attribute', entry('<x y="a" y="b"/>'), 'rejected'],
    ['a duplicate namespace declaration', entry('', ' xmlns:db="urn:x"'), 'rejected'],
    ['an attribute without a value', entry('<link href/>'), 'rejected'],
    ['attributes without a space between them', entry('<link href="a"rel="b"/>'), 'rejected'],
    ['an element named like a member of the prototype', entry('<constructor>1</constructor>'), 'rejected'],
    ['an attribute named like a member of the prototype', entry('<x prototype="1"/>'), 'rejected'],
    ['another character for the first `<`', entry('').replace('<', 'x'), 'rejected'],
    ['text after the root', entry('') + 'x', 'rejected'],
    ['a `<` in a value', entry('<link href="<"/>'), 'rejected'],
    ['62 more namespaces in scope', entry(`${namespaces(31)}${namespaces(31)}<db:uid>1</db:uid></x></x>`), 'read'],
    ['nothing', '', 'rejected'],
    ['a byte order mark alone', '\ufeff', 'rejected'],
    ['a second root', entry('') + entry(''), 'rejected'],
    ['nothing but a declaration', '<?xml version="1.0" encoding="UTF-8"?>', 'rejected'],
    ['a text that ends within a tag', entry('').slice(0, -1), 'rejected'],
    ['a text that ends within the root tag', entry('').slice(0, 30), 'rejected'],
  ])('%s', (_, text, outcome) => {
    expect(compare(text, 'entry')).toBe(outcome);
  });

  test('but for more namespaces in scope than are searched', () => {
    expect(() => readAtom(entry(`${namespaces(31)}${namespaces(32)}</x></x>`), 'entry')).toThrow(AtomError);
  });

  test('in entries whose end tag differs from the start tag', () => {
    const atom = 'http://www.w3.org/2005/Atom';
    const feed = (inside: string) => `<feed xmlns="${atom}" xmlns:a="${atom}">${inside}</feed>`;
    expect(compare(feed('<entry><id>1</id></entry><a:entry><id>2</id></a:entry>'))).toBe('read');
    expect(compare(feed('<a:entry><id>1</id></entry>'))).toBe('rejected');
    expect(compare(feed('<entry><id>1</a:id></entry>'))).toBe('rejected');
  });

  test('in every truncated text', () => {
    const [person] = participants(7, 1);
    const text = writers.personFeed({ title: 'a & b', links: {}, totalResults: 1, entries: [person!] });
    for (let end = 0; end < text.length; end++) expect(compare(text.slice(0, end), 'feed')).toBe('rejected');
  });

  test('in a text longer than those before it', () => {
    const long = '长'.repeat(300_000);
    expect(compare(entry(`<title>${long}</title>`))).toBe('read');
    expect(compare(entry('<title>short</title>'))).toBe('read');
  });
});

describe('sent documents are read in one pass', () => {
  test('of the benchmark’s upstream', () => {
    const page = { startIndex: 1, itemsPerPage: 5, totalResults: 340 };
    expect(compare(writers.eventFeed({ ...page, entries: cityEvents('beijing', 5) }))).toBe('read');
    expect(compare(writers.personFeed({ ...page, entries: participants(7, 3) }))).toBe('read');
  });

  test('of the origin', async () => {
    const sent = async (path: string) => {
      const { text } = await origin.get(path);
      expect(compare(text)).toBe('read');
      return text;
    };
    const { entries } = readers.eventFeed(await sent('/event/location/beijing?max-results=50'));
    expect(entries.length).toBeGreaterThan(5);
    for (const { id } of entries.slice(0, 10)) {
      const { author } = readers.event(await sent(`/event/${id}`));
      await sent(`/event/${id}/participants`);
      await sent(`/people/${author!.id!}/events`);
    }
  });

  test('of the real service', () => {
    const answers = readdirSync(`${recordedFolder}event`).filter(
      (name) => name.endsWith('.xml') && !name.startsWith('delete-request'),
    );
    expect(answers.length).toBeGreaterThan(8);
    for (const name of answers) {
      expect([name, compare(recordedText(`event/${name}`))]).toEqual([name, 'read']);
    }
  });
});

/** Documents with all known and many unknown elements, well-formed or not. */
function documents(): fc.Arbitrary<string> {
  const often = <T>(usual: T, ...others: T[]) =>
    fc.oneof(
      { arbitrary: fc.constant(usual), weight: 40 },
      { arbitrary: fc.constantFrom(usual, ...others), weight: 1 },
    );
  const known = fc.constantFrom(
    ...['id', 'title', 'summary', 'content', 'name', 'uri', 'result', 'db:uid', 'georss:point', 'gd:when', 'gd:where'],
    ...['db:location', 'db:attribute', 'db:attribute', 'link', 'link', 'category', 'category'],
    ...['opensearch:startIndex', 'openSearch:totalResults', 'opensearch:itemPerPage', 'openSearch:itemsPerPage'],
  );
  const odd = fc.constantFrom(
    ...[
      'title',
      'db:title',
      'uid',
      'x:y',
      'updated',
      'none:id',
      'a:id',
      ':id',
      'constructor',
      'toString',
      'a:b:c',
      'x1',
    ],
    ...['entry', 'author', 'feed', '1x', 'x-y.z', 'é'],
  );
  const elementName = fc.oneof({ arbitrary: known, weight: 30 }, { arbitrary: odd, weight: 1 });
  const piece = fc.oneof(
    { arbitrary: fc.constantFrom('活动', 'a', ' ', '\n', '\t', '12', '&amp;', '🎬', '，', '>', "'"), weight: 40 },
    {
      arbitrary: fc.constantFrom('&lt;', '&#x96E8;', '&#60;', '&quot;', '&apos;', '&#9;', '&#13;', ']]>', '#event.'),
      weight: 10,
    },
    {
      arbitrary: fc.constantFrom(
        ...[
          '&nbsp;',
          '&who;',
          '&',
          '&#0;',
          '&#xD800;',
          '&#x110000;',
          '&#99999999;',
          '\r',
          '\r\n',
          '\u0001',
          '\ud83c',
          '\uffff',
        ],
        ...['&amp', '&;', '&#;', '&#x;', '\u0085', '\u3000', '&am', 'p;'],
      ),
      weight: 1,
    },
  );
  const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
  const remark = fc.constantFrom(
    '<!-- a -->',
    '<!-->',
    '<!-- & -- < -->',
    '<?a b?>',
    '<?xml version="1.0"?>',
    '<!-- \r -->',
  );
  const content = fc.oneof(
    { arbitrary: text, weight: 30 },
    { arbitrary: fc.tuple(text, text).map(([a, b]) => `${a}<![CDATA[${b}]]>`), weight: 2 },
    { arbitrary: fc.tuple(text, remark, text).map((parts) => parts.join('')), weight: 2 },
    { arbitrary: text.map((inner) => `<b>${inner}</b>`), weight: 1 },
  );
  const url = fc.constantFrom(
    ...[
      'https://a.example/people/9',
      'http://site.example/x',
      'https://a.example/event/1/?b#c',
      'a',
      '/',
      '',
      'http://a/site/l',
    ],
    ...['http://www.douban.com/2007#event.music', 'http://www.douban.com/2007#kind'],
  );
  const value = fc.oneof(
    { arbitrary: url, weight: 6 },
    { arbitrary: text, weight: 3 },
    {
      arbitrary: fc.constantFrom('self', 'alternate', 'icon', 'status', 'wishers', 'album', 'x', ' self ', '__proto__'),
      weight: 6,
    },
  );
  const attributeName = fc.oneof(
    {
      arbitrary: fc.constantFrom('rel', 'href', 'term', 'scheme', 'name', 'id', 'startTime', 'endTime', 'valueString'),
      weight: 40,
    },
    {
      arbitrary: fc.constantFrom('type', 'xml:lang', 'xmlns', 'xmlns:db', 'xmlnsx', 'constructor', 'x:y', 'a:b:c'),
      weight: 1,
    },
  );
  const attribute = fc
    .tuple(often(' ', '  ', '\n', '', '\r'), attributeName, often('=', ' = ', ''), often('"', "'", ''), value)
    .map(([blank, name, equals, quote, inner]) => blank + name + equals + quote + inner + quote);
  const attributes = fc
    .uniqueArray(attribute, { maxLength: 3, selector: (one) => /[\w:]+/.exec(one)?.[0] ?? one })
    .chain((unique) => often(unique, [...unique, ...unique]))
    .map((all) => all.join(''));
  const leaf = fc
    .tuple(elementName, attributes, often(false, true), content, often('', ' ', '\n', 'x'), fc.boolean())
    .map(([name, inside, isSpaced, inner, tail, isEmpty]) =>
      isEmpty ? `<${name}${inside}${isSpaced ? ' ' : ''}/>` : `<${name}${inside}>${inner}</${name}${tail}>`,
    );
  const between = often('', '\n  ', ' ', '<!-- between -->', '<?a?>', 'text', '<![CDATA[ ]]>', '\r\n');
  const inside = (one: fc.Arbitrary<string>, most: number) =>
    fc
      .uniqueArray(fc.tuple(one, between), {
        maxLength: most,
        // Duplicates are rare.
        selector: ([element]) => (element.length % 13 === 0 ? element : /[\w:]+/.exec(element)?.[0]),
      })
      .map((all) => all.flat().join(''));
  const author = inside(leaf, 4).map((inner) => `<author>${inner}</author>`);
  const entry = inside(fc.oneof({ arbitrary: leaf, weight: 8 }, { arbitrary: author, weight: 1 }), 9);
  const entries = fc.array(
    entry.map((inner) => `<entry>${inner}</entry>`),
    { maxLength: 3 },
  );
  const feed = fc
    .tuple(inside(fc.oneof({ arbitrary: leaf, weight: 5 }, { arbitrary: author, weight: 1 }), 5), entries)
    .map(([head, all]) => head + all.join('\n'));
  const declared = often(
    'xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/" xmlns:gd="http://schemas.google.com/g/2005" xmlns:opensearch="http://a9.com/-/spec/opensearchrss/1.0/" xmlns:openSearch="http://a9.com/-/spec/opensearchrss/1.0/" xmlns:georss=\' http://www.georss.org/georss \'',
    'xmlns="http://www.w3.org/2005/Atom"',
    'xmlns:a="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/"',
    'xmlns="urn:x" xmlns:db="http://www.w3.org/2005/Atom"',
    '',
  );
  const prolog = often(
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '',
    "<?xml version='1.0' encoding='utf-8' standalone='yes'?>",
    '<?xml version="1.0" encoding="latin1"?>',
    '\ufeff',
    ' ',
    '<!-- before -->',
    '<!DOCTYPE feed>',
    'x',
  );
  const end = often('', '\n', '<!-- after -->', '<x/>', 'x', '\r\n');
  const whole = (root: string, inner: fc.Arbitrary<string>) =>
    fc
      .tuple(prolog, declared, inner, end)
      .map(([before, names, all, after]) => `${before}<${root} ${names}>${all}</${root}>${after}`);
  return fc.oneof(whole('feed', feed), whole('entry', entry));
}

/** Responses with parts removed, inserted, duplicated or moved. */
function damagedDocuments(): fc.Arbitrary<string> {
  const [event] = cityEvents('rivertown', 1);
  const page = { title: 'A & B', links: { self: 'https://a.example/1' }, startIndex: 1, totalResults: 2 };
  const author = { id: '9', name: 'Moss', links: { self: 'https://a.example/people/9' } };
  const fixtures = new URL('../fixtures/atom/', import.meta.url);
  const whole = [
    writers.personFeed({ ...page, entries: participants(7, 2) }),
    writers.eventFeed({ ...page, author, entries: [{ ...event!, author, title: '<🎬> & "more"' }] }),
    writers.event({ ...event!, author }),
    ...['people-feed.xml', 'event-feed.xml'].map((name) => readFileSync(new URL(name, fixtures), 'utf8')),
  ];
  const inserted = fc.constantFrom(
    ...[
      '<',
      '>',
      '/',
      '"',
      "'",
      '=',
      ' ',
      '&',
      ';',
      '&#',
      '&amp;',
      '&#x41;',
      '\r',
      '\n',
      '\u0000',
      '\ud800',
      '\udc00',
      ':',
      '!',
      '?',
    ],
    ...[
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?',
      '?>',
      '</',
      '/>',
      '<entry>',
      '</entry>',
      '<title>',
      '</title>',
      'xmlns:db="x"',
      'é',
    ],
  );
  const edit = fc.tuple(
    fc.constantFrom('cut', 'put', 'double', 'move', 'end'),
    fc.nat(),
    fc.nat(40),
    fc.nat(),
    inserted,
  );
  return fc.tuple(fc.constantFrom(...whole), fc.array(edit, { minLength: 1, maxLength: 2 })).map(([text, edits]) =>
    edits.reduce((now, [kind, place, length, other, put]) => {
      const at = place % (now.length + 1);
      const to = other % (now.length + 1);
      const some = now.slice(at, at + length);
      if (kind === 'cut') return now.slice(0, at) + now.slice(at + length);
      if (kind === 'put') return now.slice(0, at) + put + now.slice(at);
      if (kind === 'double') return now.slice(0, at) + some + now.slice(at);
      if (kind === 'move') return now.slice(0, to) + some + now.slice(to);
      return other % 5 === 0 ? now.slice(0, at) : now + put;
    }, text),
  );
}
