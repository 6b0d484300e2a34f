import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { createAssess } from '../../../src/engine/documents/assess.ts';
import { configWith } from '../../support/config.ts';
import { facade } from '../../support/facade.ts';

type Execute = ReturnType<typeof facade>['execute'];
interface Ranged {
  upstream: { min: number; calls: { how: string }[] };
}

/** The fewest calls that are planned, and those that are then sent. */
async function plannedAndSent(execute: Execute, query: string): Promise<[planned: number, sent: number]> {
  const { min } = ((await execute(query, { token: 't', explain: 'plan' })).extensions as unknown as Ranged).upstream;
  const { calls } = ((await execute(query, { token: 't', explain: 'trace' })).extensions as unknown as Ranged).upstream;
  return [min, calls.filter(({ how }) => how === 'sent').length];
}

test('a page within one that is cached needs no call', async () => {
  const { execute, service } = facade();
  const comments = Array.from({ length: 10 }, (_, at) => ({ id: String(at + 1), author: { id: '5', name: 'Ann' } }));
  service
    .intercept({ path: (path) => path.startsWith('/v2/movie/subject/7/comments') })
    .reply(200, { start: 0, count: 10, total: 10, comments })
    .times(1);
  const ten = 'a: subject(id: "7") { comments(first: 10) { nodes { id } } }';
  expect(await plannedAndSent(execute, `{ ${ten} }`)).toEqual([1, 1]);
  const both = `{ ${ten} b: subject(id: "7") { comments(first: 3) { nodes { id } } } }`;
  expect(await plannedAndSent(execute, both)).toEqual([0, 0]);
  expect((await execute(both, { token: 't' })).data.b.comments.nodes).toEqual(
    [1, 2, 3].map((id) => ({ id: `FilmComment:${id}` })),
  );
});

test('pages of a list that differ in fields and window need no call where the request for both is cached', async () => {
  const { execute, service } = facade();
  const books = [1, 2].map((id) => ({ id: String(id), title: 'T', publisher: 'P' }));
  service
    .intercept({ path: (path) => path.startsWith('/v2/book/search') })
    .reply(200, { start: 0, count: 2, total: 2, books })
    .times(1);
  const pages = `{ a: searchBooks(query: "x", first: 1) { nodes { title } }
    b: searchBooks(query: "x", first: 2) { nodes { publisher } } }`;
  expect(await plannedAndSent(execute, pages)).toEqual([1, 1]);
  expect(await plannedAndSent(execute, pages)).toEqual([0, 0]);
});

test('a record that is found by two ways is counted once', async () => {
  const { execute, service } = facade();
  service
    .intercept({ path: (path) => path.startsWith('/v2/note/505/comment/1') })
    .reply(404, { code: 1001, msg: 'no such comment', request: 'GET /v2/note/505/comment/1' })
    .persist();
  const query = `{ a: node(id: "NoteComment:505:1") { ... on NoteComment { content } }
    b: node(id: "Note:505") { ... on Note { noteComment(id: "1") { content } } } }`;
  expect(await plannedAndSent(execute, query)).toEqual([1, 1]);
});

test('a call that a pause of the service keeps back is none of the fewest', async () => {
  const { execute, service, events } = facade();
  events
    .intercept({ path: (path) => path.startsWith('/people/1/events') })
    .reply(429, {}, { headers: { 'retry-after': '30' } })
    .persist();
  service
    .intercept({ path: (path) => path.startsWith('/v2/book/user/1/tags') })
    .reply(200, { start: 0, count: 1, total: 0, tags: [] })
    .persist();
  const query = '{ user(id: "1") { webUrl bookTags { totalCount } } }';
  expect(await plannedAndSent(execute, query)).toEqual([2, 2]);
  expect(await plannedAndSent(execute, query)).toEqual([1, 1]);
});

test('what a variable may deliver later is none of the fewest calls with any variables', () => {
  const assess = createAssess(schema, configWith({}));
  const query = `query ($isLater: Boolean!) {
    subject(id: "7") { photos(first: 8) { totalCount } ... @defer(if: $isLater) { blooperUrls } }
  }`;
  const leastOf = (variables?: object) => assess(query, undefined, variables as never).cost?.calls.least;
  expect([leastOf({ isLater: true }), leastOf()]).toEqual([1, 1]);
});
