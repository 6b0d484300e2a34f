import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { expect, test } from 'vitest';
import {
  AnnotateDocument,
  BookDocument,
  CelebrityDocument,
  ChartsDocument,
  CityDocument,
  DashboardDocument,
  EventDocument,
  FilmDocument,
  SearchDocument,
  ShelfDocument,
  WriteNoteDocument,
} from '../../generated/operations.ts';
import { journey } from '../support/journey.ts';

const setup = await journey();

/** Runs a document as alice, with its types. */
async function page<Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, errors } = await setup.execute(print(document), { token: 'demo-alice', variables });
  expect(errors).toBeUndefined();
  return data as Data;
}

test('operations run with their default variables and with others', async () => {
  const { book } = await page(BookDocument, {});
  const { book: other } = await page(BookDocument, { id: '6082808' });
  expect([book?.id, other?.id]).toEqual(['Book:27025715', 'Book:6082808']);
  expect(other?.viewerCollection?.status satisfies 'WISH' | 'READING' | 'READ' | null | undefined).toBe('READ');
  expect(other?.series?.books?.nodes.map(({ title }) => title)).toContain('活着为了讲述');
});

test('the types of an operation are those of its results', async () => {
  const { subject } = await page(FilmDocument, {});
  expect(subject?.subjectType satisfies 'MOVIE' | 'TV' | null | undefined).toBe('MOVIE');
  expect(subject!.rating!.ratersCount! + subject!.rating!.average!).toBeGreaterThan(1_000_000);
  const { celebrity } = await page(CelebrityDocument, { id: subject!.directors![0]!.id });
  expect(celebrity?.name).toBe('吕克·贝松');

  const { city } = await page(CityDocument, {});
  const [first] = city!.music!.nodes;
  const { event } = await page(EventDocument, { id: first!.id });
  expect(event).toMatchObject({ title: first!.title, type: 'MUSIC', startsAt: first!.startsAt });
  expect(new Date(event!.startsAt!).getTime()).toBeLessThan(new Date(event!.endsAt!).getTime());

  const { top250, usBoxOffice } = await page(ChartsDocument, {});
  expect(top250?.nodes.map(({ title }) => title)[0]).toBe('肖申克的救赎');
  expect(usBoxOffice?.entries.map(({ rank }) => rank)).toEqual(usBoxOffice?.entries.map((_, place) => place + 1));

  const { viewer, searchBooks } = await page(DashboardDocument, {});
  expect(viewer.filmTier satisfies 'BASIC' | 'ADVANCE' | 'PREMIUM' | null).toBe('ADVANCE');
  expect(searchBooks?.nodes.every(({ authors }) => Array.isArray(authors))).toBe(true);
});

test('an operation continues after the cursor of the previous page', async () => {
  const first = await page(ShelfDocument, {});
  const { pageInfo, edges, totalCount } = first.user!.read!;
  const next = await page(ShelfDocument, { after: pageInfo.endCursor });
  const ids = [...edges, ...next.user!.read!.edges].map(({ node }) => node.id);
  expect([totalCount! > 10, new Set(ids).size]).toEqual([true, 20]);
  const { searchBooks } = await page(SearchDocument, { query: '小王子' });
  expect(searchBooks?.edges.map(({ node }) => node.title)).toContain('小王子');
});

test('results of mutations are typed too', async () => {
  const { createAnnotation } = await page(AnnotateDocument, {
    book: '1003078',
    page: 31,
    content: '这一页值得再读一遍：一句话就把人物写活了。',
    isPrivate: true,
  });
  expect(createAnnotation?.annotation).toMatchObject({ page: 31, book: { title: '小王子' } });
  const { createNote } = await page(WriteNoteDocument, { title: '题', content: '文' });
  expect(createNote?.note).toMatchObject({ title: '题', privacy: 'FRIEND', pictures: [] });
});
