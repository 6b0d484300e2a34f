import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';

// Copied by hand from the documentation, to find mistakes in the tables. Of the film service they have the tiers, and of a list the member with
// its items.
const operations = `
GET    /v2/book/:id                          book_basic_r         200
GET    /v2/book/isbn/:isbn                   book_basic_r         200
GET    /v2/book/search                       book_basic_r         200 list of books
GET    /v2/book/:id/tags                     book_basic_r         200 list of tags
GET    /v2/book/user/:name/tags              book_basic_r         200 list of tags
GET    /v2/book/user_tags/:id                service_basic_common 200 list of tags
GET    /v2/book/user/:name/collections       book_basic_r         200 list of collections
GET    /v2/book/:id/collection               book_basic_r         200
GET    /v2/book/user/:name/annotations       book_basic_r         200 list of annotations
GET    /v2/book/:id/annotations              book_basic_r         200 list of annotations
GET    /v2/book/annotation/:id               book_basic_r         200
GET    /v2/book/series/:id/books             book_basic_r         200 list of books
POST   /v2/book/:id/collection               book_basic_w         201
PUT    /v2/book/:id/collection               book_basic_w         202
DELETE /v2/book/:id/collection               book_basic_w         204
POST   /v2/book/:id/annotations              book_basic_w         201
PUT    /v2/book/annotation/:id               book_basic_w         202
DELETE /v2/book/annotation/:id               book_basic_w         204
POST   /v2/book/reviews                      service_basic_common 201
PUT    /v2/book/review/:id                   service_basic_common 202
DELETE /v2/book/review/:id                   service_basic_common 200
POST   /v2/notes                             community_basic_note 201
PUT    /v2/note/:id                          community_basic_note 202
DELETE /v2/note/:id                          community_basic_note 200
POST   /v2/note/:id                          community_basic_note 200
GET    /v2/note/:id                          community_basic_note 200
GET    /v2/note/user_created/:id             community_basic_note 200 list of notes
GET    /v2/note/:id/comments                 community_basic_note 200 list of comments
POST   /v2/note/:id/comments                 community_basic_note 201
GET    /v2/note/:id/comment/:comment_id      community_basic_note 200
DELETE /v2/note/:id/comment/:comment_id      community_basic_note 200
POST   /v2/note/:id/like                     community_basic_note 200
DELETE /v2/note/:id/like                     community_basic_note 200
GET    /v2/movie/subject/:id                 movie_basic_r        200 BAP
GET    /v2/movie/celebrity/:id               movie_basic_r        200 BA
GET    /v2/movie/subject/:id/photos          movie_advance_r      200 AP list of photos
GET    /v2/movie/subject/:id/reviews         movie_advance_r      200 AP list of reviews
GET    /v2/movie/subject/:id/comments        movie_advance_r      200 AP list of comments
GET    /v2/movie/celebrity/:id/works         movie_advance_r      200 AP list of works
GET    /v2/movie/celebrity/:id/photos        movie_advance_r      200 AP list of photos
GET    /v2/movie/search                      movie_basic_r        200 BAP list of subjects
GET    /v2/movie/top250                      movie_basic_r        200 BA list of subjects
GET    /v2/movie/us_box                      movie_basic_r        200 BA list of subjects
GET    /v2/movie/weekly                      movie_advance_r      200 A list of subjects
GET    /v2/movie/new_movies                  movie_advance_r      200 A list of subjects
GET    /v2/movie/in_theaters                 movie_premium_r      200 AP list of subjects
GET    /v2/movie/coming_soon                 movie_premium_r      200 BAP list of subjects
GET    /event/:id                            -                    200
GET    /event/:id/participants               -                    200 list of entries
GET    /event/:id/wishers                    -                    200 list of entries
GET    /people/:id/events                    -                    200 list of entries
GET    /people/:id/events/initiate           -                    200 list of entries
GET    /people/:id/events/participate        -                    200 list of entries
GET    /people/:id/events/wish               -                    200 list of entries
GET    /event/location/:id                   -                    200 list of entries
GET    /events                               -                    200 list of entries
POST   /events                               -                    201
POST   /event/:id/participants               -                    201
POST   /event/:id/wishers                    -                    201
DELETE /event/:id/participants               -                    200
DELETE /event/:id/wishers                    -                    200
PUT    /event/:id                            -                    200
POST   /event/:id/delete                     -                    200
`
  .trim()
  .split('\n');

const letters = { basic: 'B', advance: 'A', premium: 'P' };

function lineOf({ method, path, scope, status, tiers, list }: Endpoint) {
  const isFilm = path.startsWith('/v2/movie/');
  const columns = [method.padEnd(6), path.padEnd(37), (scope ?? '-').padEnd(20), status];
  const film = isFilm ? [tiers.map((tier) => letters[tier]).join('')] : [];
  return [...columns, ...film, ...(list ? [`list of ${list}`] : [])].join(' ');
}

const rows = [bookEndpoints, noteEndpoints, filmEndpoints, eventEndpoints].flatMap((table) =>
  Object.values(table),
) as Endpoint[];

test('the tables contain the documented operations, each list with the member of its items', () => {
  const lines = rows.map(lineOf);
  expect(operations.filter((line) => !lines.includes(line))).toEqual([]);
});

test('an operation beyond the documented ones is called in test/origin by its path, written out', () => {
  const texts = readdirSync('test/origin').map((file) => readFileSync(`test/origin/${file}`, 'utf8'));
  const isCalled = ({ path }: Endpoint) =>
    texts.some((text) => new RegExp(`[/'"\`]${path.slice(1).replaceAll(/:\w+/g, '[^/]+')}['"\`?]`).test(text));
  const uncalled = rows.filter((row) => !operations.includes(lineOf(row)) && !isCalled(row));
  expect(
    uncalled.map(lineOf),
    'a test in test/origin must call each endpoint with its path written out, because the path in its row may be misspelt',
  ).toEqual([]);
});

test('notes and writes require a login, other reads do not', () => {
  const isNote = ({ path }: Endpoint) => path.startsWith('/v2/note/');
  expect(rows.filter((row) => row.login)).toEqual(rows.filter((row) => row.method !== 'GET' || isNote(row)));
});

test('no path belongs to both services, so that a cached response is identified by its path alone', () => {
  const firstSegment = ({ path }: Endpoint) => path.split('/')[1];
  const ofService = (service: Endpoint['service']) => rows.filter((row) => row.service === service).map(firstSegment);
  expect(new Set(ofService('catalog'))).toEqual(new Set(['v2']));
  expect(ofService('events')).not.toContain('v2');
});
