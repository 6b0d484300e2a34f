/** Atom documents for the tests of events and cities. */
import type { Interceptable } from 'undici';

/** Replies to requests with exactly this path and query. */
export function replyTo(events: Interceptable, path: string, body: string, status = 200) {
  events
    .intercept({ path: (requested) => decodeURIComponent(requested) === path })
    .reply(status, body, { headers: { 'content-type': 'application/atom+xml' } });
}

export const feed = (
  inside: string,
  { total, title = '活动' }: { total?: number; title?: string } = {},
) => `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/" xmlns:gd="http://schemas.google.com/g/2005"
  xmlns:opensearch="http://a9.com/-/spec/opensearchrss/1.0/">
  <title>${title}</title>
  <opensearch:startIndex>1</opensearch:startIndex>
  ${total === undefined ? '' : `<opensearch:totalResults>${total}</opensearch:totalResults>`}
  ${inside}
</feed>`;

const namespaces =
  'xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/" xmlns:gd="http://schemas.google.com/g/2005"';

/** The entry of an event; `more` are the elements under test. */
export const entry = (id: string, more = '') => `<entry ${namespaces}>
  <id>http://api.example/event/${id}</id>
  <title> 夜场 ${id} </title>
  ${more}
</entry>`;
