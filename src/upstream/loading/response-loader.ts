/**
 * Loads responses that are not a record by its key: lists, charts, a book by its ISBN. Equal requests of an operation are made once, and so
 * are those of a tick that one request can answer (`merged-reads.ts`).
 */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import type { AnswerOf, Endpoint } from '../../api/endpoint.ts';
import { type ApiRequest, createApiRequest, requestIfUsable } from '../../api/api-request.ts';
import { type LoadContext, maySaveCall, staleAfter, useFresh } from './load-context.ts';
import { type CacheHandle, ageOf } from '../cache/handle.ts';
import type { CacheEntry } from '../cache/memory.ts';
import { isForbidden } from '../errors.ts';
import type { MemberNames } from '../../api/record-source.ts';
import { type MergeableRead, answers, differ, listOf, mergedReads, partOf } from './merged-reads.ts';

interface ResponseLoad extends MergeableRead {
  path: Path | undefined;
  isParentAbsent: IsParentAbsent | undefined;
}

/** A request of the operation. `list` is computed when another of the endpoint is compared with it. */
interface Made {
  request: ApiRequest;
  response: Promise<unknown>;
  list?: string;
}

/** Whether the record that the list belongs to is absent: then nothing is requested, and the response is null. */
export type IsParentAbsent = () => Promise<boolean>;

export class ResponseLoader {
  private readonly context: LoadContext;
  /** The requests of the operation. */
  private readonly made = new Map<Endpoint, Made[]>();
  private readonly loader = new DataLoader<ResponseLoad, Promise<unknown>, string>(
    // Promises, not Promise.all: each request settles as soon as its own response is there.
    async (loads) => this.fetchAll(loads),
    {
      cacheKeyFn: ({ request, needsNoItems }) => `${request.wirePath}${needsNoItems ? ' any' : ''}`,
      name: 'responses',
    },
  );

  constructor(context: LoadContext) {
    this.context = context;
  }

  /** The response of an endpoint; null if what it returns is absent. */
  load<E extends Endpoint>(
    endpoint: E,
    input: object,
    members: MemberNames | undefined,
    path: Path | undefined,
    isParentAbsent?: IsParentAbsent,
    needsNoItems = false,
  ): Promise<AnswerOf<E> | null> {
    const request = createApiRequest(endpoint, input, members);
    return this.loader.load({ request, path, isParentAbsent, needsNoItems }) as Promise<AnswerOf<E> | null>;
  }

  /** Requests made before a write are made again after it. */
  clear(): void {
    this.loader.clearAll();
    this.made.clear();
  }

  /** The request that `load` would send now; null if it would send none. */
  async wouldSend(endpoint: Endpoint, input: object, members: MemberNames | undefined): Promise<string | null> {
    const { calls, cache } = this.context;
    const request = requestIfUsable(endpoint, input, members);
    if (!request || calls.refuses(request)) return null;
    const { wirePath } = request;
    const handle = cache.response(endpoint, wirePath);
    const cached = await handle.get(undefined, true);
    return cached && maySaveCall(endpoint, handle, cached) ? null : wirePath;
  }

  /** The responses of the loads of a tick. */
  private fetchAll(loads: readonly ResponseLoad[]): readonly Promise<unknown>[] {
    const [load] = loads;
    if (loads.length === 1 && !this.made.has(load!.request.endpoint)) return [this.send(load!)];
    const responses = new Map<ResponseLoad, Promise<unknown>>();
    const left: ResponseLoad[] = [];
    for (const each of loads) {
      const earlier = this.earlierFor(each);
      if (earlier) responses.set(each, this.part(earlier.response, earlier.request, each));
      else left.push(each);
    }
    for (const { reads } of mergedReads(left)) {
      const merged = reads.length > 1 ? this.fetchMerged(reads) : undefined;
      for (const each of reads) responses.set(each, merged ? merged.then((made) => made.get(each)!) : this.send(each));
    }
    return loads.map((each) => responses.get(each)!);
  }

  private earlierFor(load: ResponseLoad): Made | undefined {
    const { request } = load;
    const made = this.made.get(request.endpoint);
    const list = made && listOf(request);
    return made?.find((each) => (each.list ??= listOf(each.request)) === list && answers(each.request, load));
  }

  /** What is fresh in the cache needs no request, nor does what is a part of it; the rest needs as few as possible. */
  private async fetchMerged(loads: readonly ResponseLoad[]): Promise<ReadonlyMap<ResponseLoad, Promise<unknown>>> {
    const responses = new Map<ResponseLoad, Promise<unknown>>();
    const found = new Map<ResponseLoad, { cache: CacheHandle; cached: CacheEntry | undefined }>();
    const peek = async (load: ResponseLoad) => {
      const cache = this.context.cache.response(load.request.endpoint, load.request.wirePath);
      found.set(load, { cache, cached: await cache.get(undefined, true) });
    };
    await Promise.all(loads.map(peek));
    const left: ResponseLoad[] = [];
    const fresh = loads.filter((load) => {
      const { cache, cached } = found.get(load)!;
      return cached && cache.isFresh(cached);
    });
    for (const load of fresh) responses.set(load, this.send(load));
    for (const load of loads) {
      if (responses.has(load)) continue;
      const whole = fresh.find((each) => listOf(each.request) === listOf(load.request) && answers(each.request, load));
      if (whole) responses.set(load, this.part(responses.get(whole)!, whole.request, load));
      else left.push(load);
    }
    for (const { request, reads } of mergedReads(left)) {
      const response = this.send({ ...reads[0]!, request });
      for (const read of reads) {
        const { cache, cached } = found.get(read)!;
        const part = this.part(response, request, read);
        responses.set(read, cached ? part.catch((error) => this.stale(read, cache, cached, error)) : part);
      }
    }
    return responses;
  }

  private send(load: ResponseLoad): Promise<unknown> {
    const response = this.fetch(load);
    const { request } = load;
    const made = this.made.get(request.endpoint);
    if (made) made.push({ request, response });
    else this.made.set(request.endpoint, [{ request, response }]);
    return response;
  }

  /** What a load asks for, from the response to a request for more. */
  private part(response: Promise<unknown>, request: ApiRequest, load: ResponseLoad): Promise<unknown> {
    if (!differ(request, load.request)) return response;
    return response.then(
      (whole) => {
        const part = load.needsNoItems ? whole : partOf(whole, request, load.request);
        return part === undefined ? this.send(load) : part;
      },
      // A larger window may fail where the smaller one does not. What is forbidden or absent concerns both.
      (error: unknown) => {
        if (isForbidden(error)) throw error;
        return this.send(load);
      },
    );
  }

  /** From the cache while it is fresh, and while upstream fails. */
  private async fetch({ request, path, isParentAbsent }: ResponseLoad): Promise<unknown> {
    const { calls, cachePolicy } = this.context;
    const { endpoint, wirePath } = request;
    const cache = this.context.cache.response(endpoint, wirePath);
    const cached = await cache.get();
    if (cached && cache.isFresh(cached)) {
      useFresh(this.context, request, cache, cached, path);
      return cached.isAbsent ? null : cached.value;
    }
    try {
      if (isParentAbsent && (await isParentAbsent())) return null;
      const response = await calls.send(request, path, { reader: cache });
      const { value } = response;
      if (response.reuse.refusal === 'no-store') cachePolicy.forbidsStoring = true;
      if (typeof value === 'object' && value !== null) cachePolicy.restrict(cache.put(value, response), endpoint);
      else {
        if (value === null) cache.putAbsent(response);
        else cache.delete();
        cachePolicy.restrict(null);
      }
      return value;
    } catch (error) {
      return this.stale({ request, path }, cache, cached, error);
    } finally {
      cache.release();
    }
  }

  /** What is cached, if it may be used although upstream failed; else throws the error. */
  private stale(
    { request, path }: Pick<ResponseLoad, 'request' | 'path'>,
    cache: CacheHandle,
    cached: CacheEntry | undefined,
    error: unknown,
  ): unknown {
    const stale = staleAfter(this.context, request.endpoint, cache, cached, error);
    if (!stale) throw error;
    this.context.calls.logCached(request, path, { how: 'stale', staleSeconds: ageOf(stale) });
    return stale.isAbsent ? null : stale.value;
  }
}
