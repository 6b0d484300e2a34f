import { bookEndpoints } from '../api/book.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { eventEndpoints } from '../api/event.ts';
import { filmEndpoints } from '../api/film.ts';
import { noteEndpoints } from '../api/note.ts';
import { annotationRules } from './rules/book/annotation.ts';
import { bookRules } from './rules/book/book.ts';
import type { Rule, Rules } from './rules/call.ts';
import { collectionRules } from './rules/book/collection.ts';
import { eventRules } from './rules/event.ts';
import { filmRules } from './rules/film.ts';
import { noteCommentRules } from './rules/note/note-comment.ts';
import { noteRules } from './rules/note/note.ts';
import { reviewRules } from './rules/review.ts';

/** An endpoint and the rule that implements it. */
export interface Route {
  endpoint: Endpoint;
  rule: Rule<Endpoint>;
}

/** All routes, in the order in which they are tried. */
export const routes: readonly Route[] = [
  ...routesOf(bookEndpoints, { ...bookRules, ...collectionRules, ...annotationRules, ...reviewRules }),
  ...routesOf(noteEndpoints, { ...noteRules, ...noteCommentRules }),
  ...routesOf(filmEndpoints, filmRules),
  ...routesOf(eventEndpoints, eventRules),
].sort(literalFirst);

function routesOf<Table extends Record<string, Endpoint>>(endpoints: Table, rules: Rules<Table>): Route[] {
  // The received texts are the input of the endpoint; exchange.ts has converted numbers and flags.
  return Object.entries(endpoints).map(([name, endpoint]) => ({ endpoint, rule: rules[name] as Rule<Endpoint> }));
}

/** `/v2/book/search` before `/v2/book/:id`. */
function literalFirst(a: Route, b: Route) {
  const key = ({ endpoint }: Route) => endpoint.path.replaceAll(/:\w+/g, '~');
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}
