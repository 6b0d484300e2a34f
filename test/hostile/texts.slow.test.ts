// Texts that would take superlinear time in regular expressions.
import { describe, expect, test } from 'vitest';
import { annotationBlocks, noteBlocks } from '../../src/graph/types/content-markup.ts';
import { isbnOf } from '../../src/graph/book/isbn.ts';
import { abstractOf, annotationHtml, hasMath } from '../../src/origin/rules/book/annotation-text.ts';
import { noteContent, noteMarkup, noteSummary } from '../../src/origin/rules/note/note-text.ts';
import { sampleOf } from '../support/optional.ts';
import { startFacade, codesIn } from '../support/start-facade.ts';
import { service } from '../support/service.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

/** Superlinear time would be minutes or hours. */
const guard = { timeout: 30_000 };
const BYTES = 400_000;
const filled = (unit: string) => unit.repeat(Math.ceil(BYTES / Buffer.byteLength(unit)));

const texts: [name: string, text: string][] = [
  ['emoji families', filled('👨‍👩‍👧‍👦')],
  ['one letter with many accents', `e${filled('\u0301')}`],
  ['French', filled('Où est-ce qu’un été à Besançon dérange ? ')],
  ['flags', filled('🇫🇷')],
  ['decomposed Hangul', filled('\u1112\u1161\u11ab')],
  ['white space', `x${filled(' ')}x`],
  ['line ends', filled('\r\n')],
  ['full stops', `http://${filled('.')}x`],
  ['unclosed picture tags', filled('[img=1:L]')],
  ['unclosed link tags', filled('[url="x"]')],
  ['both', filled('[img=1:L][url="x"]')],
  ['pictures in a link', `[url="http://a.example/${'x'.repeat(1_900)}"]${filled('[img=1][/img]y')}[/url]`],
  ['unclosed anchors', filled('<a href="x">')],
  ['anchors with many attributes', filled(`<a ${'href="" '.repeat(60)}`)],
  ['an anchor with many less-than signs', filled(`<a href="x">${'<'.repeat(900)}</a>`)],
  ['math', filled('$$a$')],
  ['digits', filled('97875')],
];

const { books, execute } = await startFacade({ maxBodyBytes: '3000000' });
const origin = await service();

const mutations = [
  ['createAnnotation', '{ bookId: "7", content: $text, chapter: $text }', 'annotation { id }'],
  ['collectBook', '{ bookId: "7", status: READ, comment: $text, tags: [$text] }', 'created'],
  ['createReview', '{ bookId: "7", title: $text, content: $text, rating: 9 }', 'review { id }'],
] as const;

describe.each(texts.map(([name, text], round) => ({ name, text, round })))('$name', ({ text, round }) => {
  test.each(sampleOf(mutations, 3, round))(
    'the input of %s is rejected before any upstream call',
    guard,
    async (name, input, selection) => {
      books.requests.length = 0;
      const query = `mutation ($text: String!) { ${name}(input: ${input}) { ${selection} } }`;
      const response = await execute(query, { variables: { text }, headers: { authorization: 'Bearer x' } });
      expect(codesIn(response)).toEqual([
        expect.stringMatching(/^(CHAPTER_TOO_LONG|INVALID_TAG|MISSING_ARGUMENT|COMMENT_TOO_LONG|RATING_OUT_OF_RANGE)$/),
      ]);
      expect(books.requests).toEqual([]);
    },
  );
  test('an argument of a query', guard, async () => {
    const query =
      'query ($text: String!, $id: ID!) { searchBooks(query: $text) { totalCount } bookByIsbn(isbn: $text) { id } book(id: $id) { id } }';
    const response = await execute(query, { variables: { text, id: text } });
    expect(codesIn(response)).toContain('BAD_USER_INPUT');
  });
  test('a comment at the origin', guard, async () => {
    const { body } = await origin.post('/v2/book/26340138/collection', 'alice', { status: 'wish', comment: text });
    expect(body.code).toBe(6010);
  });
  test('the content of a note', guard, () => {
    const stored = noteMarkup(text, () => ({ layout: 'L', caption: 'x' }));
    for (const content of new Set([text, stored])) {
      noteSummary(content);
      for (const format of ['abstract', 'html_full', 'html_short'] as const) noteContent(content, format, new Map());
      noteBlocks(content, {});
    }
  });
  test('the content of an annotation', guard, () => {
    abstractOf(text);
    annotationHtml(text, new Map());
    annotationBlocks(text, {}, hasMath(text));
    expect(isbnOf(text)).toBeNull();
  });
});

test('a response does not grow with the errors in its request', async () => {
  const collect = (input: object) =>
    execute('mutation ($input: CollectBookInput!) { collectBook(input: $input) { created } }', {
      variables: { input: { bookId: '7', status: 'READ', ...input } },
      headers: { authorization: 'Bearer x' },
    });
  const many = (count: number, text: string) => Array.from({ length: count }, () => text);
  const unknown = Object.fromEntries(many(50_000, '').map((_, nth) => [`unknown${nth}`, '']));
  const responses: [code: string, answer: unknown][] = [];
  const inputs = [
    { tags: many(330_000, '') },
    { tags: many(9_000, '') },
    { tags: many(100, 'x '.repeat(5_000)) },
    unknown,
  ];
  for (const input of inputs) {
    const response = await collect(input);
    responses.push([codesIn(response)[0] as string, response]);
  }
  expect(responses.map(([code]) => code)).toEqual(['BAD_USER_INPUT', 'TOO_MANY_TAGS', 'INVALID_TAG', 'BAD_USER_INPUT']);
  for (const [, response] of responses) expect(JSON.stringify(response).length).toBeLessThan(40_000);
  expect(JSON.stringify(responses[2])).not.toContain('x '.repeat(51));
});
