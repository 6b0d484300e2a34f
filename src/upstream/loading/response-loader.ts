/** Loads responses that are not a record by its key: lists, charts, a book by its ISBN. Equal requests of an operation are made once. */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import { type ApiRequest, createApiRequest } from '../../api/api-request.ts';
import { type LoadContext, staleAfter, useFresh } from './load-context.ts';
import type { MemberNames } from '../../api/record-source.ts';

interface ResponseLoad {
  request: ApiRequest;
  path: Path | undefined;
  isParentAbsent: IsParentAbsent | undefined;
}

/** Whether the record that the list belongs to is absent: then nothing is requested, and the response is null. */
export type IsParentAbsent = () => Promise<boolean>;

export class ResponseLoader {
  private readonly context: LoadContext;
  private readonly loader = new DataLoader<ResponseLoad, Promise<unknown>, string>(
    // Promises, not Promise.all: each request settles as soon as its own response is there.
    async (loads) => loads.map((load) => this.fetch(load)),
    { batch: false, cacheKeyFn: ({ request }) => request.wirePath, name: 'responses' },
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
  }

  /** The request that `load` would send now; null if it would send none. */
  async wouldSend(endpoint: Endpoint, input: object, members: MemberNames | undefined): Promise<string | null> {
    const { calls, cache } = this.context;
    if (calls.refuses(endpoint)) return null;
    const { wirePath } = createApiRequest(endpoint, input, members);
    const cached = await cache.response(endpoint, wirePath).peek();
    return cached?.isFresh ? null : wirePath;
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
