/** What clients take out of a document before they send it: directives for their caches. Local fields (`@client`) stay, and are no fields of the server. */
import { type DocumentNode, visit } from 'graphql';

/** Directives for the cache of Apollo Client. Those for the cache of urql begin with `_`. */
const CACHE: ReadonlySet<string> = new Set(['connection', 'nonreactive', 'unmask']);

export const asSent = (document: DocumentNode): DocumentNode =>
  visit(document, {
    Directive: ({ name: { value } }) => (CACHE.has(value) || value.startsWith('_') ? null : undefined),
  });
