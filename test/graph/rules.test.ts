import { Upload } from 'graphql-upload-minimal';
import { describe, expect, test } from 'vitest';
import { putFile } from '../../src/engine/values/uploaded-file.ts';
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
  /** Violates the rule by one. */
  bad: object;
  /** Just satisfies the rule. */
  good: object;
  violation: object;
  reply?: [method: 'POST' | 'PUT', path: string, status: number, body: object];
}

const annotation = { id: '9', book_id: '7', author_id: '1' };
const reviewed = { id: 5, title: '标题' };
const collected = { id: 1, book_id: '7', status: 'wish', updated: '', user_id: 'alice' };
const annotate = {
  mutation: 'createAnnotation',
  selection: 'annotation { id }',
  reply: ['POST', '/v2/book/7/annotations', 201, annotation] as Case['reply'] & object,
};
const collect = {
  mutation: 'collectBook',
  selection: 'created',
  reply: ['POST', '/v2/book/7/collection', 201, collected] as Case['reply'] & object,
};
const writeReview = {
  mutation: 'createReview',
  selection: 'review { id }',
  reply: ['POST', '/v2/book/reviews', 201, reviewed] as Case['reply'] & object,
};
/** Of seven code points. */
const family = '👨‍👩‍👧‍👦';

const cases: Case[] = [
  {
    rule: 'an annotation has at least 16 characters',
    ...annotate,
    input: { bookId: '7' },
    bad: { content: '一'.repeat(15) },
    good: { content },
    violation: { path: ['input', 'content'], code: 'ANNOTATION_TOO_SHORT', limit: 16, actual: 15 },
  },
  {
    rule: 'an annotation has at least 16 code points, even if several form one glyph',
    ...annotate,
    input: { bookId: '7' },
    bad: { content: `${family}${family}𠮷` },
    good: { content: `${family}${family}𠮷𠮷` },
    violation: { path: ['input', 'content'], code: 'ANNOTATION_TOO_SHORT', limit: 16, actual: 15 },
  },
  {
    rule: 'a page is below 1,000,000',
    ...annotate,
    input: { bookId: '7', content },
    bad: { page: 1_000_000 },
    good: { page: 999_999 },
    violation: { path: ['input', 'page'], code: 'INVALID_PAGE_NUMBER', limit: 999_999, actual: 1_000_000 },
  },
  {
    rule: 'a page is positive',
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
    rule: 'a chapter has at most 100 characters',
    ...annotate,
    input: { bookId: '7', content },
    bad: { chapter: '章'.repeat(101) },
    good: { chapter: '章'.repeat(100) },
    violation: { path: ['input', 'chapter'], code: 'CHAPTER_TOO_LONG', limit: 100, actual: 101 },
  },
  {
    rule: 'an annotation has a page or a chapter, not both',
    ...annotate,
    input: { bookId: '7', content, page: 3 },
    bad: { chapter: '第一章' },
    good: { chapter: null },
    violation: { path: ['input', 'chapter'], code: 'PAGE_OR_CHAPTER' },
  },
  {
    rule: 'a comment has at most 350 characters',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { comment: `${family.repeat(50)}𠮷` },
    good: { comment: family.repeat(50) },
    violation: { path: ['input', 'comment'], code: 'COMMENT_TOO_LONG', limit: 350, actual: 351 },
  },
  {
    rule: 'a rating is at most 5',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { rating: 6 },
    good: { rating: 5 },
    violation: { path: ['input', 'rating'], code: 'RATING_OUT_OF_RANGE', limit: 5, actual: 6 },
  },
  {
    rule: 'a rating is at least 1',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { rating: 0 },
    good: { rating: 1 },
    violation: { path: ['input', 'rating'], code: 'RATING_OUT_OF_RANGE', limit: 1, actual: 0 },
  },
  {
    rule: 'a tag is one word',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { tags: ['小说', '当代 文学'] },
    good: { tags: ['小说', '当代文学'] },
    violation: { path: ['input', 'tags', 1], code: 'INVALID_TAG', actual: '当代 文学' },
  },
  {
    rule: 'a collection has at most 100 tags',
    ...collect,
    input: { bookId: '7', status: 'WISH' },
    bad: { tags: Array.from({ length: 101 }, (_, nth) => `第${nth}`) },
    good: { tags: Array.from({ length: 100 }, (_, nth) => `第${nth}`) },
    violation: { path: ['input', 'tags'], code: 'TOO_MANY_TAGS', limit: 100, actual: 101 },
  },
  {
    rule: 'privacy is required if an existing collection may be replaced',
    ...collect,
    input: { bookId: '7', status: 'WISH', onConflict: 'REPLACE' },
    bad: {},
    good: { isPrivate: false },
    violation: { path: ['input', 'isPrivate'], code: 'MISSING_ARGUMENT' },
  },
  {
    rule: 'a review has at least 151 characters',
    ...writeReview,
    input: { bookId: '7', title: '标题' },
    bad: { content: '评'.repeat(150) },
    good: { content: review },
    violation: { path: ['input', 'content'], code: 'REVIEW_TOO_SHORT', limit: 151, actual: 150 },
  },
  {
    rule: 'a review has a title',
    ...writeReview,
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

describe.each(cases)('the rule "$rule"', ({ mutation, selection, input, bad, good, violation, reply }) => {
  test('rejects a violating input without an upstream call', async () => {
    const { execute, calls } = facade();
    const response = await execute(mutationOf(mutation, selection), {
      ...alice,
      variables: { input: { ...input, ...bad } },
    });
    expect(response.data).toEqual({ [mutation]: null });
    expect(response.errors).toMatchObject([
      { path: [mutation], extensions: { code: (violation as { code: string }).code, violations: [violation] } },
    ]);
    expect(calls).toEqual([]);
  });
  test('accepts a valid input, which is sent', async () => {
    const { execute, service, calls } = facade();
    const [method, path, status, body] = reply!;
    service.intercept({ method, path }).reply(status, body);
    const response = await execute(mutationOf(mutation, selection), {
      ...alice,
      variables: { input: { ...input, ...good } },
    });
    expect(response.errors).toBeUndefined();
    expect(calls).toEqual([`${method} ${path}`]);
  });
});

test('all violations of an input are reported in one error', async () => {
  const { execute, calls } = facade();
  const response = await execute(mutationOf('createAnnotation', 'annotation { id }'), {
    ...alice,
    variables: { input: { bookId: 'Note:7', content: '短', page: 0, chapter: '章'.repeat(101) } },
  });
  expect(response.errors?.[0]?.extensions).toEqual({
    code: 'BAD_USER_INPUT',
    coordinate: 'Mutation.createAnnotation',
    violations: [
      {
        path: ['input', 'bookId'],
        code: 'BAD_USER_INPUT',
        message: 'This is a global id of another type, not of Book.',
      },
      {
        path: ['input', 'content'],
        code: 'ANNOTATION_TOO_SHORT',
        limit: 16,
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

test('an event that ends before it begins, or contains invalid XML characters, is rejected without an upstream call', async () => {
  const { execute, calls } = facade();
  const broken = { ...event, title: 'a\u0001b', place: ' ', endsAt: '2031-12-18T10:00:00Z' };
  const response = await execute(mutationOf('createEvent', 'event { id }'), { ...alice, variables: { input: broken } });
  expect(response.errors?.[0]?.extensions.violations).toMatchObject([
    { path: ['input', 'place'], code: 'MISSING_ARGUMENT', message: 'This is required and must not be empty.' },
    { path: ['input', 'endsAt'], code: 'EVENT_TIMES', actual: '2031-12-18T10:00:00Z' },
    { path: ['input', 'title'], code: 'INVALID_TEXT' },
  ]);
  const untyped = { ...event, type: null, id: '1', inviteOnly: false, canInvite: true };
  const second = await execute(mutationOf('replaceEvent', 'event { id }'), { ...alice, variables: { input: untyped } });
  expect(second.errors?.[0]?.extensions.violations).toEqual([
    { path: ['input', 'type'], code: 'MISSING_ARGUMENT', message: 'This is required.' },
  ]);
  expect(calls).toEqual([]);
});

test('an event is sent as an Atom entry with escaped texts', async () => {
  const { execute, events } = facade();
  let sent = '';
  events
    .intercept({ method: 'POST', path: '/events', headers: { 'content-type': 'application/atom+xml; charset=utf-8' } })
    .reply(({ body }) => {
      sent = body as string;
      return { statusCode: 500, data: '' };
    });
  const input = { ...event, title: `<&>"']]>`, inviteOnly: true };
  await execute(mutationOf('createEvent', 'event { id }'), { ...alice, variables: { input } });
  expect(sent).toContain(`<title>&lt;&amp;&gt;&quot;']]&gt;</title>`);
  expect(sent).toContain('term="http://www.douban.com/2007#event.salon"');
  expect(sent).toContain('<db:attribute name="invite_only">yes</db:attribute>');
  expect(sent).toContain('<db:attribute name="can_invite">yes</db:attribute>');
  expect(sent).toContain(
    '<gd:when endTime="2031-12-18T21:30:00+08:00" startTime="2031-12-18T19:30:00+08:00"/><gd:where valueString="某处"/>',
  );
});

describe('a mutation that the service rejects', () => {
  // prettier-ignore -- a table is easier to read with aligned columns
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
  ])(
    'with %i and status %i has the error code %s, without the text of the service in its message',
    async (code, status, name) => {
      const { execute, service } = facade();
      service
        .intercept({ method: 'POST', path: '/v2/book/7/collection' })
        .reply(status, { code, msg: 'secret: =token', request: 'POST /v2/book/7/collection' });
      const input = { bookId: '7', status: 'WISH' };
      const response = await execute(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
      expect(response.data).toEqual({ collectBook: null });
      expect(response.errors?.[0]?.extensions).toMatchObject({
        code: name,
        upstream: { service: 'catalog', status, code, request: 'POST /v2/book/7/collection' },
      });
      expect(JSON.stringify(response)).not.toContain('secret');
    },
  );

  test('and whose response is lost is not retried, and its result is reported as unknown', async () => {
    const { execute, service, calls } = facade();
    service
      .intercept({ method: 'POST', path: '/v2/book/7/collection' })
      .replyWithError(Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    const input = { bookId: '7', status: 'WISH', isPrivate: false, onConflict: 'REPLACE' };
    const response = await execute(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
    expect(response.errors?.[0]?.extensions.code).toBe('UPSTREAM_RESULT_UNKNOWN');
    expect(calls).toHaveLength(1);
  });

  test('with an unreadable response invalidates the cached record', async () => {
    const { execute, service, calls } = facade();
    service
      .intercept({ path: '/v2/book/7', query: { fields: 'id,rating' } })
      .reply(200, { id: '7', rating: { numRaters: 1 } })
      .times(2);
    service.intercept({ method: 'POST', path: '/v2/book/7/collection' }).reply(201, '<html>');
    const rated = '{ book(id: 7) { rating { ratersCount } } }';
    await execute(rated);
    const input = { bookId: '7', status: 'READ', rating: 5 };
    const response = await execute(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
    expect(response.errors?.[0]?.extensions.code).toBe('UPSTREAM_INVALID_RESPONSE');
    await execute(rated);
    expect(calls).toHaveLength(3);
  });
});

describe('invalid pictures', () => {
  const file = (): Upload => {
    const bytes = [Buffer.from('GIF89a')];
    return putFile(new Upload(), { name: '1', size: 6, bytes, digest: '' });
  };
  const numbered = (numbers: number[]) => numbers.map((number) => ({ number, file: file() }));

  test('are reported together: too many, duplicate and invalid numbers', async () => {
    const { execute, calls } = facade();
    const numbers = [1, 1, 0, 1_000_000, 5, 6, 7, 8, 9, 10, 11, 12, 13];
    const input = { title: '题', content: '文', pictures: numbered(numbers) };
    const response = await execute(mutationOf('createNote', 'note { id }'), { ...alice, variables: { input } });
    expect(response.errors?.[0]?.extensions.violations).toMatchObject([
      { path: ['input', 'pictures'], code: 'TOO_MANY_PICTURES', limit: 12, actual: 13 },
      { path: ['input', 'pictures', 1, 'number'], code: 'PICTURE_NUMBER_USED', actual: 1 },
      { path: ['input', 'pictures', 2, 'number'], code: 'INVALID_PICTURE_NUMBER', limit: 1, actual: 0 },
      { path: ['input', 'pictures', 3, 'number'], code: 'INVALID_PICTURE_NUMBER', limit: 999_999, actual: 1_000_000 },
    ]);
    expect(calls).toEqual([]);
  });

  test('are rejected if the file is not part of the request', async () => {
    const { execute, calls } = facade();
    const input = { bookId: '7', content, pictures: [{ number: 1, file: 'picture.png' }] };
    const response = await execute(mutationOf('createAnnotation', 'annotation { id }'), {
      ...alice,
      variables: { input },
    });
    expect(response.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(calls).toEqual([]);
  });
});

test('a missing required Boolean is reported without a remark about being empty', async () => {
  const { execute } = facade();
  const input = { bookId: '7', status: 'WISH', onConflict: 'REPLACE' };
  const response = await execute(mutationOf('collectBook', 'created'), { ...alice, variables: { input } });
  expect(response.errors?.[0]?.message).toBe('input.isPrivate: This is required.');
});

test.each([
  [409, 6011, 'collection_exist (try PUT if you want to update)', 'COLLECTION_EXISTS'],
  [404, 1001, 'uri_not_found', 'FORBIDDEN'],
  [400, 999, 'invalid_request', 'UPSTREAM_REFUSED'],
])(
  'the text of the service appears only in extensions.upstream: status %i, code %i',
  async (status, code, msg, ours) => {
    const { execute, service } = facade();
    service
      .intercept({ method: 'POST', path: /collection/ })
      .reply(status, { code, msg, request: 'POST /v2/book/7/collection' });
    const { errors } = await execute(mutationOf('collectBook', 'created'), {
      ...alice,
      variables: { input: { bookId: '7', status: 'WISH' } },
    });
    expect(errors).toMatchObject([{ extensions: { code: ours, upstream: { message: msg } } }]);
    expect(errors![0]!.message).not.toContain(msg.split(' ')[0]);
  },
);
