/** A scripted service that cuts its lists by positions. */
import { facade } from '../../support/facade.ts';

export interface PagedService {
  total: number;
  hidden: ReadonlySet<number>;
  /** The most positions of one page. */
  most?: number;
  hidesTotal?: boolean;
  hidesNext?: boolean;
}

/** A page without the items that are hidden. */
function pageIn(
  { total, hidden, most = 100, hidesTotal, hidesNext }: PagedService,
  query: URLSearchParams,
  first: string,
  size: string,
) {
  const start = Number(query.get(first) ?? 0);
  const count = Math.min(Number(query.get(size)), most);
  const positions = Array.from({ length: Math.max(0, Math.min(count, total - start)) }, (_, at) => start + at);
  return {
    start,
    count,
    ...(!hidesTotal && { total }),
    ...(!hidesNext && { next_start: start + count }),
    ids: positions.filter((at) => !hidden.has(at)).map((at) => String(at + 1)),
  };
}

export const pagedLists: Record<string, { path: RegExp; query: string; member: string }> = {
  comments: { path: /\/comments/, query: 'subject(id: "7") { list: comments', member: 'comments' },
  reviews: { path: /\/reviews/, query: 'subject(id: "7") { list: reviews', member: 'reviews' },
  annotations: { path: /\/annotations/, query: 'book(id: "7") { list: annotations', member: 'annotations' },
  books: { path: /\/search/, query: '__typename list: searchBooks', member: 'books' },
};
export type PagedList = keyof typeof pagedLists;

export function facadeOver(list: PagedList, service: PagedService) {
  const made = facade({ recordTtlSeconds: 0, accessToken: 'own', filmTier: 'advance' });
  const { path, member } = pagedLists[list]!;
  made.service
    .intercept({ path: (requested) => path.test(requested) })
    .reply(({ path: requested }) => {
      const { ids, ...envelope } = pageIn(service, new URL(requested, 'http://x').searchParams, 'start', 'count');
      const data = { ...envelope, [member]: ids.map((id) => ({ id })) };
      return { statusCode: 200, data, responseOptions: { headers: { 'content-type': 'application/json' } } };
    })
    .persist();
  return made;
}

/** The ids of all items that are not hidden. */
export const allOf = ({ total, hidden }: PagedService): string[] =>
  Array.from({ length: total }, (_, at) => at).flatMap((at) => (hidden.has(at) ? [] : [String(at + 1)]));

interface ShownPage {
  totalCount: number | null;
  edges: { cursor: string; node: { sourceId: string } }[];
  pageInfo: {
    startCursor: string | null;
    endCursor: string | null;
    hasNextPage: boolean;
    hasPreviousPage: boolean;
  };
}

/** Reads pages of a list, with arguments as a document has them. */
export function readerOf(list: PagedList, service: PagedService) {
  const { execute, calls } = facadeOver(list, service);
  const { query } = pagedLists[list]!;
  const read = async (args: string): Promise<ShownPage & { ids: string[] }> => {
    const { data, errors } = await execute(`{ ${query}(${list === 'books' ? 'query: "x", ' : ''}${args}) {
      totalCount edges { cursor node { sourceId } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }${list === 'books' ? '' : ' }'} }`);
    if (errors) throw new Error(errors[0]!.message);
    const { list: page } = (
      list === 'books' ? data : Object.values(data as Record<string, object>).find((each) => 'list' in each)
    ) as { list: ShownPage };
    return { ...page, ids: page.edges.map(({ node }) => node.sourceId) };
  };
  return { read, execute, calls };
}
