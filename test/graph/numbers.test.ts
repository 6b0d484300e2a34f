// Integers in JSON that JavaScript cannot represent exactly keep every digit; numbers that it cannot represent at all are not shown.
import { expect, test } from 'vitest';
import { facade } from '../support/facade.ts';

const json = { headers: { 'content-type': 'application/json' } };
const search = '{ searchBooks(query: "x") { nodes { id sourceId pages series { id } } } }';
const page = (book: string) => `{"count":2,"start":0,"total":2,"books":[${book},{"id":7,"title":"y"}]}`;
const searchResult = async (book: string) => {
  const { execute, service } = facade();
  service
    .intercept({ method: 'GET', path: (path: string) => path.startsWith('/v2/book/search') })
    .reply(200, page(book), json);
  return (await execute(search)).data.searchBooks;
};
const seven = { id: 'Book:7', sourceId: '7', pages: null, series: null };

test.each(['1e999', '-1e999'])('%s as the number of pages is null', async (pages) => {
  expect(await searchResult(`{"id":8,"pages":${pages}}`)).toEqual({
    nodes: [{ ...seven, id: 'Book:8', sourceId: '8' }, seven],
  });
});

test.each(['1e999', '{}', '[7]'])('a book with the id %s is left out, as one without an id', async (id) => {
  expect(await searchResult(`{"id":${id},"title":"x"}`)).toEqual({ nodes: [seven] });
  expect(await searchResult(`{"id":8,"series":{"id":${id},"title":"x"}}`)).toEqual({
    nodes: [{ ...seven, id: 'Book:8', sourceId: '8' }, seven],
  });
});

test.each(['9007199254740991', '9007199254740993', '123456789012345678901234567890'])(
  'the integer %s is a valid id, with every digit',
  async (id) => {
    expect(await searchResult(`{"id":${id},"pages":8.5}`)).toEqual({
      nodes: [{ ...seven, id: `Book:${id}`, sourceId: id, pages: '8.5' }, seven],
    });
    expect(await searchResult(`{"id":8,"pages":${id},"series":{"id":${id},"title":"x"}}`)).toEqual({
      nodes: [{ id: 'Book:8', sourceId: '8', pages: id, series: { id: `Series:${id}` } }, seven],
    });
  },
);
