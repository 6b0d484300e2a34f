import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

describe('an annotation', () => {
  const record = {
    id: '11',
    book_id: '7',
    author_id: '3',
    chapter: '',
    page_no: 222,
    privacy: 2,
    abstract: '短',
    content: '一\n<图片1>二',
    photos: { 1: 'http://img.example/1.jpg' },
    last_photo: 1,
    hasmath: false,
    time: '2012-12-16 10:42:27',
  };

  test('has its content as text and as blocks, from one call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /^\/v2\/book\/annotation\/11/ }).reply(200, record);
    const { data } = await execute(`{ annotation(id: 11) {
      id chapter page content hasMath lastPhotoNumber privacyLevel time pictures { number url } book { id } author { id }
      blocks { __typename ... on TextBlock { spans { text } } ... on PhotoBlock { photo { number } layout caption } }
    } }`);
    expect(data.annotation).toEqual({
      id: 'Annotation:11',
      chapter: null,
      page: 222,
      content: '一\n<图片1>二',
      hasMath: false,
      lastPhotoNumber: 1,
      privacyLevel: 2,
      time: '2012-12-16T10:42:27',
      pictures: [{ number: 1, url: 'http://img.example/1.jpg' }],
      book: { id: 'Book:7' },
      author: { id: 'User:3' },
      blocks: [
        { __typename: 'TextBlock', spans: [{ text: '一' }] },
        { __typename: 'PhotoBlock', photo: { number: 1 }, layout: 'CENTER', caption: null },
        { __typename: 'TextBlock', spans: [{ text: '二' }] },
      ],
    });
    expect(calls).toHaveLength(1);
  });

  test('keeps who may read it when it is updated, although numbers are written as texts', async () => {
    const { service, execute } = facade();
    const written = { ...record, content: '风筝线要留三寸，扎骨要用老竹子。', page_no: '222', privacy: '2' };
    service.intercept({ path: /^\/v2\/book\/annotation\/11\?/ }).reply(200, written);
    const body = new URLSearchParams({ content: written.content, chapter: '扎骨', privacy: 'public' }).toString();
    service.intercept({ path: '/v2/book/annotation/11', method: 'PUT', body }).reply(202, written);
    const { data, errors } = await execute(
      'mutation { updateAnnotation(input: { id: 11, chapter: "扎骨" }) { annotation { id } } }',
      { token: 't' },
    );
    expect([data, errors]).toEqual([{ updateAnnotation: { annotation: { id: 'Annotation:11' } } }, undefined]);
  });

  test('has its content as HTML for one more call, shared by all fields that select it', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/annotation\/11\?.*format=html/ })
      .reply(200, { ...record, content: '一<br>二' });
    service.intercept({ path: /^\/v2\/book\/annotation\/11\?/ }).reply(200, record);
    const { data } = await execute(
      '{ annotation(id: 11) { content a: content(format: HTML) b: content(format: HTML) } }',
    );
    expect(data.annotation).toEqual({ content: '一\n<图片1>二', a: '一<br>二', b: '一<br>二' });
    expect(calls).toHaveLength(2);
  });

  test('of a list without books loads its book by id', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/user\/3\/annotations\?/ })
      .reply(200, { start: 0, count: 20, total: 1, annotations: [record] });
    service.intercept({ path: '/v2/book/7', query: { fields: 'id,title' } }).reply(200, { id: '7', title: '活着' });
    const { data } = await execute('{ user(id: 3) { annotations { nodes { abstract book { id title } } } } }');
    expect(data.user.annotations.nodes).toEqual([{ abstract: '短', book: { id: 'Book:7', title: '活着' } }]);
    expect(calls).toHaveLength(2);
  });

  test('list is ordered by rank by default, and by the given order', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/7\/annotations/ })
      .reply(200, { start: 0, count: 20, total: 0, annotations: [] })
      .times(2);
    service.intercept({ path: /^\/v2\/book\/7(\?|$)/ }).reply(200, { id: '7' });
    await execute(
      '{ book(id: 7) { a: annotations { totalCount } b: annotations(order: NEWEST, page: 12) { totalCount } } }',
    );
    const queries = calls.filter((call) => call.includes('annotations')).sort();
    expect(queries[0]).toContain('order=collect');
    expect(queries[0]).toContain('page=12');
    expect(queries[1]).toContain('order=rank');
  });
});

describe('an annotation that does not exist', () => {
  test('is null in every field that returns it', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /annotation\/9/ })
      .reply(404, { code: 1001, msg: 'uri_not_found', request: 'GET /v2/book/annotation/9' })
      .persist();
    expect(
      await execute(
        '{ annotation(id: 9) { id } html: annotation(id: 9) { content(format: HTML) } node(id: "Annotation:9") { id } nodes(ids: ["Annotation:9"]) { id } }',
      ),
    ).toEqual({ data: { annotation: null, html: null, node: null, nodes: [null] } });
  });
});

test("private annotations of the owner of the facade's token are returned to nobody", async () => {
  const { service, execute, calls } = facade({ accessToken: 'x' });
  const annotations = [
    { id: '1', content: 'for everybody', privacy: 2 },
    { id: '2', content: 'for its author', privacy: 0 },
  ];
  service.intercept({ path: /annotations/ }).reply(200, { start: 0, count: 20, total: 2, annotations });
  const { data } = await execute('{ book(id: 7) { annotations { nodes { content } } } }');
  expect(data.book.annotations.nodes).toEqual([{ content: 'for everybody' }]);
  // The member that decides it is requested together with the selected ones.
  expect(calls.filter((call) => call.includes('annotations'))).toEqual([
    'GET /v2/book/7/annotations?count=20&fields=content,id,privacy&order=rank&start=0',
  ]);
});
