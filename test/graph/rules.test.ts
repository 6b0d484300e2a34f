import { Readable } from 'node:stream';
import { type FileUpload, Upload } from 'graphql-upload-minimal';
import { describe, expect, test } from 'vitest';
import { facade } from '../support/facade.ts';

const alice = { token: 'alice' };
const content = '一'.repeat(16);
const review = '评'.repeat(151);
const event = {
  title: '标题',
  type: 'SALON',
  content: '内容',
  startsAt: '2031-12-18T19:30:00+08:00',
  endsAt: '2031-12-18T21:30:00+08:00',
  place: '某处',
};

interface Case {
  rule: string;
  mutation: string;
  selection: string;
  input: object;
  /** Breaks the rule by one. */
  bad: object;
  /** Just does not. */
  good: object;
  violation: object;
  answer?: [method: 'POST' | 'PUT', path: string, status: number, body: object];
}

const annotation = { id: '9', book_id: '7', author_id: '1' };
const reviewed = { id: 5, title: '标题' };
const collected = { id: 1, book_id: '7', status: 'wish', updated: '', user_id: 'alice' };
const annotate = {
  mutation: 'createAnnotation',
  selection: 'annotation { id }',
  answer: ['POST', '/v2/book/7/annotations', 201, annotation] as Case['answer'] & object,
};
const collect = {
  mutation: 'collectBook',
  selection: 'created',
  answer: ['POST', '/v2/book/7/collection', 201, collected] as Case['answer'] & object,
};
const opine = {
  mutation: 'createReview',
  selection: 'review { id }',
  answer: ['POST', '/v2/book/reviews', 201, reviewed] as Case['answer'] & object,
};
/** Of seven code points. */
const family = '👨‍👩‍👧‍👦';

const cases: Case[] = [
  {
    rule: 'an annotation of 16 Chinese characters',
    ...annotate,
    input: { bookId: '7' },
    bad: { content: '一'.repeat(15) },
    good: { content },
    violation: { path: ['input', 'content'], code: 'ANNOTATION_TOO_SHORT', limit: 15, actual: 15 },
  },
  {
    rule: 'an annotation of 16 code points, whatever they make',
    ...annotate,
    input: { bookId: '7' },
    bad: { content: `${family}${family}𠮷` },
    good: { content: `${family}${family}𠮷𠮷` },
    violation: { path: ['input', 'content'], code: 'ANNOTATION_TOO_SHORT', limit: 15, actual: 15 },
  },
  {
    rule: 'a page below 1,000,000',
    ...annotate,
    input: { bookId: '7', content },
    bad: { page: 1_000_000 },
    good: { page: 999_999 },
    violation: { path: ['input', 'page'], code: 'INVALID_PAGE_NUMBER', limit: 999_999, actual: 1_000_000 },
  },
  {
    rule: 'a positive page',
    ...annotate,
    input: { bookId: '7', content },
    bad: { page: 0 },
    good: { page: 1 },
    violation: {
      path: ['input', 'page'],
      code: 'INVALID_PAGE_NUMBER',
      limit: 1,
      actual: 0,
      message: 'A page must be a positive number of at most six digits.',
    },
  },
  {
    rule: 'a chapter of 100 characters',
    ...annotate,
    input: { bookId: '7', content },
    bad: { chapter: '章'.repeat(101) },
    good: { chapter: '章'.repeat(100) },
    violation: { path: ['input', 'chapter'], code: 'CHAPTER_TOO_LONG', limit: 100, actual: 101 },
  },
  {
    rule: 'a page or a chapter',
    ...annotate,
    input: { bookId: '7', content, page: 3 },
    bad: { chapter: '第一章' },
    good: { chapter: null },
    violation: { path: ['input', 'chapter'], code: 'PAGE_OR_CHAPTER' },
  },
  {
    rule: 'a comment of 350 characters',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { comment: `${family.repeat(50)}𠮷` },
    good: { comment: family.repeat(50) },
    violation: { path: ['input', 'comment'], code: 'COMMENT_TOO_LONG', limit: 350, actual: 351 },
  },
  {
    rule: 'a rating of at most 5',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { rating: 6 },
    good: { rating: 5 },
    violation: { path: ['input', 'rating'], code: 'RATING_OUT_OF_RANGE', limit: 5, actual: 6 },
  },
  {
    rule: 'a rating of at least 1',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { rating: 0 },
    good: { rating: 1 },
    violation: { path: ['input', 'rating'], code: 'RATING_OUT_OF_RANGE', limit: 1, actual: 0 },
  },
  {
    rule: 'tags of one word each',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { tags: ['小说', '当代 文学'] },
    good: { tags: ['小说', '当代文学'] },
    violation: { path: ['input', 'tags', 1], code: 'INVALID_TAG', actual: '当代 文学' },
  },
  {
    rule: 'at most 100 tags',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { tags: Array.from({ length: 101 }, (_, nth) => `第${nth}`) },
    good: { tags: Array.from({ length: 100 }, (_, nth) => `第${nth}`) },
    violation: { path: ['input', 'tags'], code: 'TOO_MANY_TAGS', limit: 100, actual: 101 },
  },
  {
    rule: 'privacy said where a collection may be replaced',
    ...collect,
    input: { bookId: '7', status: 'WISH', onConflict: 'UPDATE' },
    bad: {},
    good: { private: false },
    violation: { path: ['input', 'private'], code: 'MISSING_ARGUMENT' },
  },
  {
    rule: 'a review of 151 characters',
    ...opine,
    input: { bookId: '7', title: '标题' },
    bad: { content: '评'.repeat(150) },
    good: { content: review },
    violation: { path: ['input', 'content'], code: 'REVIEW_TOO_SHORT', limit: 150, actual: 150 },
  },
  {
    rule: 'a title',
    ...opine,
    input: { bookId: '7', content: review },
    bad: { title: ' ' },
    good: { title: '题' },
    violation: { path: ['input', 'title'], code: 'MISSING_ARGUMENT' },
  },
];

const mutationOf = (mutation: string, selection: string) => {
  const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`;
  return `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${selection} } }`;
};

describe.each(cases)('$rule', ({ mutation, selection, input, bad, good, violation, answer }) => {
  test('without it no call is made', async () => {
    const { ask, calls } = facade();
    const shown = await ask(mutationOf(mutation, selection), { ...alice, variables: { input: { ...input, ...bad } } });
    expect(shown.data).toEqual({ [mutation]: null });
    expect(shown.errors).toMatchObject([
      { path: [mutation], extensions: { code: (violation as { code: string }).code, violations: [violation] } },
    ]);
    expect(calls).toEqual([]);
  });
  test('with it the call is made', async () => {
    const { ask, service, calls } = facade();
    const [method, path, status, body] = answer!;
    service.intercept({ method, path }).reply(status, body);
    const shown = await ask(mutationOf(mutation, selection), { ...alice, variables: { input: { ...input, ...good } } });
    expect(shown.errors).toBeUndefined();
    expect(calls).toEqual([`${method} ${path}`]);
  });
});

test('everything that an input breaks is told together', async () => {
  const { ask, calls } = facade();
  const shown = await ask(mutationOf('createAnnotation', 'annotation { id }'), {
    ...alice,
    variables: { input: { bookId: 'Note:7', content: '短', page: 0, chapter: '章'.repeat(101) } },
  });
  expect(shown.errors?.[0]?.extensions).toEqual({
    code: 'BAD_USER_INPUT',
    coordinate: 'Mutation.createAnnotation',
    violations: [
      { path: ['input', 'bookId'], code: 'BAD_USER_INPUT', message: 'This value is not valid here.' },
      {
        path: ['input', 'content'],
        code: 'ANNOTATION_TOO_SHORT',
        limit: 15,
        actual: 1,
        message: 'An annotation must have more than 15 characters; this one has 1.',
      },
      {
        path: ['input', 'page'],
        code: 'INVALID_PAGE_NUMBER',
        limit: 1,
        actual: 0,
        message: 'A page must be a positive number of at most six digits.',
      },
      {
        path: ['input', 'chapter'],
        code: 'CHAPTER_TOO_LONG',
        limit: 100,
        actual: 101,
        message: 'The name of a chapter may have at most 100 characters; this one has 101.',
      },
      { path: ['input', 'chapter'], code: 'PAGE_OR_CHAPTER', message: 'Give a page or a chapter, not both.' },
    ],
  });
  expect(calls).toEqual([]);
});

test('an event that ends before it begins, or holds what XML cannot, is not sent', async () => {
  const { ask, calls } = facade();
  const broken = { ...event, title: 'a\u0001b', place: ' ', endsAt: '2031-12-18T10:00:00Z' };
  const shown = await ask(mutationOf('createEvent', 'event { id }'), { ...alice, variables: { input: broken } });
  expect(shown.errors?.[0]?.extensions.violations).toMatchObject([
    { path: ['input', 'place'], code: 'MISSING_ARGUMENT', message: 'This is required and must not be empty.' },
    { path: ['input', 'endsAt'], code: 'EVENT_TIMES', actual: '2031-12-18T10:00:00Z' },
    { path: ['input', 'title'], code: 'INVALID_TEXT' },
  ]);
  const untyped = { ...event, type: null, id: '1' };
  const second = await ask(mutationOf('updateEvent', 'event { id }'), { ...alice, variables: { input: untyped } });
  expect(second.errors?.[0]?.extensions.violations).toEqual([
    { path: ['input', 'type'], code: 'MISSING_ARGUMENT', message: 'This is required.' },
  ]);
  expect(calls).toEqual([]);
});

test('an event goes out as an entry, its texts escaped', async () => {
  const { ask, events } = facade();
  let sent = '';
  events
    .intercept({ method: 'POST', path: '/events', headers: { 'content-type': 'application/atom+xml; charset=utf-8' } })
    .reply(({ body }) => {
      sent = body as string;
      return { statusCode: 500, data: '' };
    });
  const input = { ...event, title: `<&>"']]>`, inviteOnly: true };
  await ask(mutationOf('createEvent', 'event { id }'), { ...alice, variables: { input } });
  expect(sent).toContain(`<title>&lt;&amp;&gt;&quot;']]&gt;</title>`);
  expect(sent).toContain('term="http://www.douban.com/2007#event.salon"');
  expect(sent).toContain('<db:attribute name="invite_only">yes</db:attribute>');
  expect(sent).toContain('<db:attribute name="can_invite">yes</db:attribute>');
  expect(sent).toContain(
    '<gd:when endTime="2031-12-18T21:30:00+08:00" startTime="2031-12-18T19:30:00+08:00"/><gd:where valueString="某处"/>',
  );
});

describe('what upstream refuses', () => {
  // prettier-ignore -- a table is read down its columns
  test.each([
    [6011, 409, 'COLLECTION_EXISTS'],
    [6010, 400, 'COMMENT_TOO_LONG'],
    [6000, 404, 'BOOK_NOT_FOUND'],
    [6002, 403, 'NOT_OWNER'],
    [1000, 403, 'FORBIDDEN'],
    [1001, 404, 'FORBIDDEN'],
    [1002, 400, 'MISSING_ARGUMENT'],
    [103, 401, 'UNAUTHENTICATED'],
    [112, 400, 'RATE_LIMITED'],
    [999, 400, 'UPSTREAM_REFUSED'],
    [7777, 400, 'UPSTREAM_REFUSED'],
  ])('%i is told by its name, and never in its words', async (code, status, name) => {
    const { ask, service } = facade();
    service
      .intercept({ method: 'POST', path: '/v2/book/7/collection' })
      .reply(status, { code, msg: 'secret: =token', request: 'POST /v2/book/7/collection' });
    const input = { bookId: '7', status: 'WISH' };
    const shown = await ask(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
    expect(shown.data).toEqual({ collectBook: null });
    expect(shown.errors?.[0]?.extensions).toMatchObject({
      code: name,
      upstream: { service: 'catalog', status, code, request: 'POST /v2/book/7/collection' },
    });
    expect(JSON.stringify(shown)).not.toContain('secret');
  });

  test('a lost answer is not guessed, and not asked for again', async () => {
    const { ask, service, calls } = facade();
    service
      .intercept({ method: 'POST', path: '/v2/book/7/collection' })
      .replyWithError(Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    const input = { bookId: '7', status: 'WISH', private: false, onConflict: 'UPDATE' };
    const shown = await ask(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
    expect(shown.errors?.[0]?.extensions.code).toBe('UPSTREAM_RESULT_UNKNOWN');
    expect(calls).toHaveLength(1);
  });

  test('an answer that cannot be read leaves nothing kept of what was written', async () => {
    const { ask, service, calls } = facade();
    service
      .intercept({ path: '/v2/book/7', query: { fields: 'id,rating' } })
      .reply(200, { id: '7', rating: { numRaters: 1 } })
      .times(2);
    service.intercept({ method: 'POST', path: '/v2/book/7/collection' }).reply(201, '<html>');
    const rated = '{ book(id: 7) { rating { ratersCount } } }';
    await ask(rated);
    const input = { bookId: '7', status: 'READ', rating: 5 };
    const shown = await ask(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
    expect(shown.errors?.[0]?.extensions.code).toBe('UPSTREAM_INVALID_RESPONSE');
    await ask(rated);
    expect(calls).toHaveLength(3);
  });
});

describe('pictures that are refused before they are read', () => {
  const file = (): Upload => {
    const upload = new Upload();
    const createReadStream = () => Readable.from([Buffer.from('GIF89a')]);
    (upload as unknown as { resolve: (file: FileUpload) => void }).resolve({ createReadStream } as never);
    return upload;
  };
  const numbered = (numbers: number[]) => numbers.map((number) => ({ number, file: file() }));

  test('too many, twice the same number, a number that is none', async () => {
    const { ask, calls } = facade();
    const numbers = [1, 1, 0, 1_000_000, 5, 6, 7, 8, 9, 10, 11, 12, 13];
    const input = { title: '题', content: '文', pictures: numbered(numbers) };
    const shown = await ask(mutationOf('createNote', 'note { id }'), { ...alice, variables: { input } });
    expect(shown.errors?.[0]?.extensions.violations).toMatchObject([
      { path: ['input', 'pictures'], code: 'TOO_MANY_PICTURES', limit: 12, actual: 13 },
      { path: ['input', 'pictures', 1, 'number'], code: 'PICTURE_NUMBER_USED', actual: 1 },
      { path: ['input', 'pictures', 2, 'number'], code: 'INVALID_PICTURE_NUMBER', limit: 1, actual: 0 },
      { path: ['input', 'pictures', 3, 'number'], code: 'INVALID_PICTURE_NUMBER', limit: 999_999, actual: 1_000_000 },
    ]);
    expect(calls).toEqual([]);
  });

  test('a file that is no file of the request', async () => {
    const { ask, calls } = facade();
    const input = { bookId: '7', content, pictures: [{ number: 1, file: 'picture.png' }] };
    const shown = await ask(mutationOf('createAnnotation', 'annotation { id }'), { ...alice, variables: { input } });
    expect(shown.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(calls).toEqual([]);
  });
});

test('a Boolean that is missing is required; nothing is said of its being empty', async () => {
  const { ask } = facade();
  const input = { bookId: '7', status: 'WISH', onConflict: 'UPDATE' };
  const shown = await ask(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
  expect(shown.errors?.[0]?.message).toBe('input.private: This is required.');
});

test.each([
  [409, 6011, 'collection_exist (try PUT if you want to update)', 'COLLECTION_EXISTS'],
  [404, 1001, 'uri_not_found', 'FORBIDDEN'],
  [400, 999, 'invalid_request', 'UPSTREAM_REFUSED'],
])('the text of the service stays in extensions.upstream: %i, code %i', async (status, code, msg, ours) => {
  const { ask, service } = facade();
  service
    .intercept({ method: 'POST', path: /collection/ })
    .reply(status, { code, msg, request: 'POST /v2/book/7/collection' });
  const { errors } = await ask(mutationOf('collectBook', 'created'), {
    ...alice,
    variables: { input: { bookId: '7', status: 'WISH' } },
  });
  expect(errors).toMatchObject([{ extensions: { code: ours, upstream: { message: msg } } }]);
  expect(errors![0]!.message).not.toContain(msg.split(' ')[0]);
});
