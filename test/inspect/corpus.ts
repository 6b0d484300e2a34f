/** Recorded responses of the real service, with the endpoints that they belong to. */
import { readdirSync } from 'node:fs';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { recordedFolder, recordedText } from '../support/recorded.ts';

export interface RecordedResponse {
  file: string;
  endpoint: Endpoint;
  text: string;
  fields?: readonly string[];
}

const rows: [RegExp, Endpoint][] = [
  [/^book\/book-1/, bookEndpoints.byId],
  [/^book\/book-isbn/, bookEndpoints.byIsbn],
  [/^book\/search-/, bookEndpoints.search],
  [/^book\/collection-/, bookEndpoints.collection],
  [/^film\/subject-1/, filmEndpoints.subject],
  [/^film\/subject-[23]/, filmEndpoints.subject],
  [/^film\/celebrity-1/, filmEndpoints.celebrity],
  [/^film\/celebrity-2/, filmEndpoints.celebrity],
  [/^film\/celebrity-works/, filmEndpoints.works],
  [/^film\/subject-photos/, filmEndpoints.photos],
  [/^film\/subject-reviews/, filmEndpoints.reviews],
  [/^film\/subject-comments/, filmEndpoints.comments],
  [/^film\/search/, filmEndpoints.search],
  [/^film\/top250/, filmEndpoints.top250],
  [/^film\/us_box/, filmEndpoints.usBox],
  [/^film\/weekly/, filmEndpoints.weekly],
  [/^film\/new_movies/, filmEndpoints.newMovies],
  [/^film\/in_theaters/, filmEndpoints.inTheaters],
  [/^film\/coming_soon/, filmEndpoints.comingSoon],
  [/^note\/note/, noteEndpoints.byId],
  [/^note\/comments/, noteEndpoints.comments],
  [/^event\/event-\d/, eventEndpoints.byId],
  [/^event\/user-events/, eventEndpoints.ofUser],
  [/^event\/people-feed/, eventEndpoints.participants],
];
/** Made from the responses of others, by hand. */
const INCOMPLETE = /annotation|collections-/;

export function recordedResponses(): RecordedResponse[] {
  const files = readdirSync(recordedFolder, { recursive: true, encoding: 'utf8' });
  return files.sort().flatMap((file) => {
    const [, endpoint] = rows.find(([pattern]) => pattern.test(file)) ?? [];
    if (!endpoint || INCOMPLETE.test(file)) return [];
    const text = recordedText(file);
    const given: RecordedResponse = { file, endpoint, text };
    if (!file.includes('search-fields')) return [given];
    const [first] = (JSON.parse(text) as { books: object[] }).books;
    return [{ ...given, fields: Object.keys(first!) }];
  });
}
