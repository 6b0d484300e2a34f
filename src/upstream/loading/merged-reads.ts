/**
 * Reads of one tick that one request can answer: those of one list, or of another response, that differ in their members, and windows of a
 * list within a larger one.
 */
import { type ApiRequest, type ListWindow, createApiRequest, windowFor, windowNames } from '../../api/api-request.ts';
import type { MemberNames } from '../../api/record-source.ts';
import { listIn } from '../../lib/objects.ts';

/** A read that a request may answer together with others. */
export interface MergeableRead {
  request: ApiRequest;
  /** Any window of the list is enough. */
  needsNoItems?: boolean | undefined;
}

/** One request, and the reads that it answers. */
export interface MergedRead<Read> {
  request: ApiRequest;
  reads: Read[];
}

/** Path and query without members and window: equal for the reads of one list. */
export function listOf({ endpoint, input }: ApiRequest): string {
  const [start, count] = windowNames[endpoint.paging];
  return createApiRequest(endpoint, { ...input, [start]: undefined, [count]: undefined }).wirePath;
}

const isWithin = (part: ListWindow | undefined, whole: ListWindow | undefined): boolean =>
  part === undefined || whole === undefined
    ? part === whole
    : part.start >= whole.start && part.start + part.count <= whole.start + whole.count;

const union = (some: MemberNames | undefined, more: MemberNames | undefined): MemberNames | undefined =>
  some && more && [...new Set([...some, ...more])].sort();

/** Whether the response to one request has all that a read of the same list asks for. */
export const answers = (whole: ApiRequest, { request: part, needsNoItems }: MergeableRead): boolean =>
  (!whole.members || part.members?.every((member) => whole.members!.includes(member)) === true) &&
  (needsNoItems === true || isWithin(windowFor(part), windowFor(whole)));

/** As few requests as possible for the reads. Only reads of one path can be answered by one request, so others are not compared. */
export function mergedReads<Read extends MergeableRead>(reads: readonly Read[]): MergedRead<Read>[] {
  const ofPaths = new Map<string, Read[]>();
  for (const read of reads) {
    const { wirePath } = read.request;
    const query = wirePath.indexOf('?');
    const path = query < 0 ? wirePath : wirePath.slice(0, query);
    const ofPath = ofPaths.get(path);
    if (ofPath) ofPath.push(read);
    else ofPaths.set(path, [read]);
  }
  return [...ofPaths.values()].flatMap((ofPath) =>
    ofPath.length === 1 ? [{ request: ofPath[0]!.request, reads: ofPath }] : mergedOfPath(ofPath),
  );
}

function mergedOfPath<Read extends MergeableRead>(reads: readonly Read[]): MergedRead<Read>[] {
  const merged = new Map<string, MergedRead<Read>[]>();
  // A larger window first, so that the smaller ones find it.
  const sizeOf = ({ request, needsNoItems }: Read) => (needsNoItems ? 0 : (windowFor(request)?.count ?? 0));
  for (const read of reads.toSorted((one, other) => sizeOf(other) - sizeOf(one))) {
    const { request, needsNoItems } = read;
    const list = `${request.endpoint.service} ${listOf(request)}`;
    const ofList = merged.get(list) ?? [];
    merged.set(list, ofList);
    const same = ofList.find((each) => needsNoItems === true || isWithin(windowFor(request), windowFor(each.request)));
    if (!same) ofList.push({ request, reads: [read] });
    else {
      const { endpoint, input, members } = same.request;
      same.reads.push(read);
      same.request = createApiRequest(endpoint, input, union(members, request.members));
    }
  }
  return [...merged.values()].flat();
}

/** Whether the windows of two requests of a list differ. */
export function differ(whole: ApiRequest, part: ApiRequest): boolean {
  const [from, to] = [windowFor(whole), windowFor(part)];
  return from !== undefined && to !== undefined && (from.start !== to.start || from.count !== to.count);
}

/**
 * The part of a response that another request asks for; its `next_start` says that more follows. Undefined if it may be incomplete: the
 * service has a smaller maximum, or leaves out items, so that their positions are unknown.
 */
export function partOf(response: unknown, whole: ApiRequest, part: ApiRequest): unknown {
  const [from, to] = [windowFor(whole)!, windowFor(part)!];
  if (response === null) return null;
  const { list, paging } = whole.endpoint;
  const page = response as Record<string, unknown>;
  const items = listIn(page[list!]);
  if (!items) return undefined;
  const skipped = to.start - from.start;
  const total = page.total ?? page.totalResults;
  const isEnd = typeof total === 'number' && from.start + items.length >= total;
  const hasGaps = typeof page.next_start === 'number' && page.next_start !== from.start + items.length;
  if (hasGaps || (items.length < skipped + to.count && !isEnd)) return undefined;
  const { next_start: _, ...rest } = page;
  const end = skipped + to.count;
  const window =
    paging === 'start-index'
      ? { startIndex: to.start + 1, itemsPerPage: to.count }
      : { start: to.start, count: to.count };
  const following = items.length > end ? { next_start: to.start + to.count } : {};
  return { ...rest, ...window, ...following, [list!]: items.slice(skipped, end) };
}
