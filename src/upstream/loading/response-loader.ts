/**
 * Loads responses that are not a record by its key: lists, charts, a book by its ISBN. Equal requests of an operation are made once, and so
 * are those of a turn that one request can answer (`merged-reads.ts`).
 */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import { type ApiRequest, createApiRequest } from '../../api/api-request.ts';
import { type LoadContext, staleAfter, useFresh } from './load-context.ts';
import type { MemberNames } from '../../api/record-source.ts';
import { answers, hasMore, mergedReads, partOf } from './merged-reads.ts';

interface ResponseLoad {
  request: ApiRequest;
  path: Path | undefined;
  isParentAbsent: IsParentAbsent | undefined;
}

/** Whether the record that the list belongs to is absent: then nothing is requested, and the response is null. */
export type IsParentAbsent = () => Promise<boolean>;

export class ResponseLoader {
  private readonly context: LoadContext;
  /** The requests of the operation. */
  private readonly made: { request: ApiRequest; response: Promise<unknown> }[] = [];
  private readonly loader = new DataLoader<ResponseLoad, Promise<unknown>, string>(
    // Promises, not Promise.all: each request settles as soon as its own response is there.
    async (loads) => this.fetchAll(loads),
    { cacheKeyFn: ({ request }) => request.wirePath, name: 'responses' },
  );

  constructor(context: LoadContext) {
    this.context = context;
  }

  /** The response of an endpoint; null if what it returns is absent. */
  load(
    endpoint: Endpoint,
    input: object,
    members: MemberNames | undefined,
    path: Path | undefined,
    isParentAbsent?: IsParentAbsent,
  ): Promise<unknown> {
    return this.loader.load({ request: createApiRequest(endpoint, input, members), path, isParentAbsent });
  }

  /** Requests made before a write are made again after it. */
  clear(): void {
    this.loader.clearAll();
    this.made.length = 0;
  }

  /** The request that `load` would send now; null if it would send none. */
  async wouldSend(endpoint: Endpoint, input: object, members: MemberNames | undefined): Promise<string | null> {
    const { calls, cache } = this.context;
    if (calls.refuses(endpoint)) return null;
    const { wirePath } = createApiRequest(endpoint, input, members);
    const cached = await cache.response(endpoint, wirePath).peek();
    return cached?.isFresh ? null : wirePath;
  }

  /** The responses of the loads of a turn. */
  private fetchAll(loads: readonly ResponseLoad[]): Promise<unknown>[] {
    const [load] = loads;
    if (loads.length === 1 && !this.made.some(({ request }) => request.endpoint === load!.request.endpoint))
      return [this.send(load!)];
    const responses = new Map<ResponseLoad, Promise<unknown>>();
    const left: ResponseLoad[] = [];
    for (const each of loads) {
      const earlier = this.made.find(({ request }) => answers(request, each.request));
      if (earlier) responses.set(each, this.part(earlier.response, earlier.request, each));
      else left.push(each);
    }
    for (const endpoint of new Set(left.map(({ request }) => request.endpoint))) {
      const alike = left.filter(({ request }) => request.endpoint === endpoint);
      if (alike.length === 1) responses.set(alike[0]!, this.send(alike[0]!));
      else {
        const merged = this.fetchMerged(alike);
        for (const each of alike)
          responses.set(
            each,
            merged.then((made) => made.get(each)!),
          );
      }
    }
    return loads.map((each) => responses.get(each)!);
  }

  /** What is fresh in the cache needs no request; the rest needs as few as possible. */
  private async fetchMerged(loads: readonly ResponseLoad[]): Promise<ReadonlyMap<ResponseLoad, Promise<unknown>>> {
    const responses = new Map<ResponseLoad, Promise<unknown>>();
    const isFresh = await Promise.all(
      loads.map(async ({ request: { endpoint, wirePath } }) =>
        Boolean((await this.context.cache.response(endpoint, wirePath).peek())?.isFresh),
      ),
    );
    for (const { request, reads } of mergedReads(loads.filter((_, at) => !isFresh[at]))) {
      const response = this.send({ ...reads[0]!, request });
      for (const read of reads) responses.set(read, this.part(response, request, read));
    }
    loads.forEach((load, at) => {
      if (isFresh[at]) responses.set(load, this.send(load));
    });
    return responses;
  }

  private send(load: ResponseLoad): Promise<unknown> {
    const response = this.fetch(load);
    this.made.push({ request: load.request, response });
    return response;
  }

  /** What a load asks for, from the response to a request for more. */
  private part(response: Promise<unknown>, request: ApiRequest, load: ResponseLoad): Promise<unknown> {
    if (!hasMore(request, load.request)) return response;
    return response.then(
      (whole) => {
        const part = partOf(whole, request, load.request);
        return part === undefined ? this.send(load) : part;
      },
      // A larger window may fail where the smaller one does not.
      () => this.send(load),
    );
  }

  private refresh(request: ApiRequest): void {
    const run = (context: LoadContext) =>
      new ResponseLoader(context).fetch({ request, path: undefined, isParentAbsent: undefined });
    this.context.refresh({ id: request.wirePath, service: request.endpoint.service, run });
  }

  /** From the cache while it is fresh, and while upstream fails. */
  private async fetch({ request, path, isParentAbsent }: ResponseLoad): Promise<unknown> {
    const { calls, cachePolicy } = this.context;
    const { endpoint, wirePath } = request;
    const cache = this.context.cache.response(endpoint, wirePath);
    const cached = await cache.get();
    if (cached?.isFresh) {
      if (cached.isDue) this.refresh(request);
      useFresh(this.context, request, cached, path);
      return cached.isAbsent ? null : cached.value;
    }
    try {
      if (isParentAbsent && (await isParentAbsent())) return null;
      const response = await calls.send(request, path, cache);
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
      const stale = staleAfter(this.context, endpoint, cache, cached, error);
      if (!stale) throw error;
      calls.logCached(request, path, { how: 'stale', staleSeconds: stale.ageSeconds });
      return stale.value;
    } finally {
      cache.release();
    }
  }
}
