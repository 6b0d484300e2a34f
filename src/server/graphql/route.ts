/** The route /graphql: the order of what happens to a request. `server.ts` lists the steps. */
import type { IncomingMessage } from 'node:http';
import { OperationTypeNode } from 'graphql';
import type { Config } from '../../config/settings.ts';
import type { Admission, ReturnableSlot } from '../http/connections/admission.ts';
import type { Exchange } from '../http/exchange.ts';
import { type AcceptedTypes, acceptedTypes } from '../http/request/accept.ts';
import { addCorsHeaders, varyOf } from '../http/request/headers.ts';
import { type HelpSettings, withHelp } from '../http/response/http-error.ts';
import type { JsonWriter } from './json-response.ts';
import { type Outcome, STORED_COST, ageHeaders, cacheControlOf, costHeaders, isWhole, withCost } from './outcome.ts';
import type { Documents } from './documents/persisted-documents.ts';
import type { Pipeline, RunOperation } from './pipeline.ts';
import type { RateLimitState } from '../../upstream/limits/rate-limiter.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import { type GraphqlRequest, METHODS, type createRequestReader } from './request.ts';

/** Headers that features add to whole responses: names and values alternate. */
export interface AddedHeaders {
  /** Headers of a response that was stored: the same for each. */
  readonly stored: readonly string[];
  /** Headers of a response whose operation was run; `startedAt`: by performance.now(). `left`: to the caller, null without a limit. */
  readonly ofRun: (session: UpstreamSession, startedAt: number, left: RateLimitState | null) => readonly string[];
}

/** What a request passes, in this order. */
export interface RouteSteps {
  /** GraphiQL, for browsers. */
  page: ((exchange: Exchange) => void) | undefined;
  reader: ReturnType<typeof createRequestReader>;
  /** The writer of JSON, first asked for a stored response. */
  json: JsonWriter;
  admission: Admission;
  documents: Documents;
  run: RunOperation;
  endStored: Pipeline['endStored'];
  headers: readonly AddedHeaders[];
  /** Writes what is not JSON for JSON. It is large, and many servers never need it, so the first request that does loads it. */
  yoga: () => Promise<(exchange: Exchange, request: GraphqlRequest, outcome: Outcome) => Promise<void>>;
}

type RouteSettings = HelpSettings & Pick<Config, 'compression' | 'corsOrigins'>;

/** Returns the handler of the route. It rejects with an HttpError for a request that is not run. */
export function createGraphqlRoute(config: RouteSettings, steps: RouteSteps): (exchange: Exchange) => Promise<void> {
  const { page, reader, json, admission, documents, run, endStored, headers: added, yoga } = steps;
  const storedHeaders = added.flatMap(({ stored }) => stored);
  const vary = varyOf(config);

  return async (exchange) => {
    const { request, response } = exchange;
    const { method, headers } = request;
    const accepted = acceptedTypes(headers.accept);
    if (page && (method === 'GET' || method === 'HEAD') && isForPage(accepted, request))
      return isAtSlash(request) ? redirectToGraphql(exchange) : page(exchange);
    exchange.headers.push('vary', vary);
    if (headers.origin) addCorsHeaders(request, exchange.headers, config.corsOrigins);
    if (method === 'OPTIONS') return sendMethods(exchange);

    const received = await reader.receive(exchange, accepted);
    // Responses to a POST are not cached without such a header, so they get none.
    if (method !== 'POST') response.setHeader('cache-control', cacheControlOf(undefined));
    const kept = received.isForEverybody ? received.json && json.storedFor(received.json) : undefined;
    const stored = kept instanceof Promise ? await kept : kept;
    if (stored) {
      exchange.headers.push(...STORED_COST, ...storedHeaders);
      json.sendStored(exchange, stored);
      const { requestId } = exchange;
      return endStored({ requestId, headers, startedAt: received.readAt }, stored.operation);
    }
    const parsed = reader.parse(received);
    const slotRequest = { exchange, lifetime: parsed.cancellation, hasFiles: received.upload !== undefined };
    const entered = admission.enter(slotRequest);
    const slot = entered instanceof Promise ? await entered : entered;
    exchange.onClose(slot.release);
    let returnable: ReturnableSlot | undefined;
    try {
      const prepared = documents(parsed);
      // Only a mutation may wait for another one.
      if (prepared.ready?.operation.operation === OperationTypeNode.MUTATION)
        returnable = admission.returnable(slot, slotRequest);
      const outcome = await run(prepared, returnable ? { ...parsed, slot: returnable } : parsed);
      if (outcome.isReplayed) exchange.headers.push('idempotency-replayed', 'true');
      if (method !== 'POST') response.setHeader('cache-control', cacheControlOf(accepted.json && outcome.cachePolicy));
      if (!isWhole(outcome)) return await (await yoga())(exchange, parsed, withCost(outcome));
      const { session, price } = outcome;
      if (session && price) {
        // A public response is for everybody, so it says nothing about one caller.
        const left = session.cachePolicy.scope === 'public' ? null : await session.rateBudget();
        exchange.headers.push(...costHeaders(session, price, left));
        for (const { ofRun } of added) exchange.headers.push(...ofRun(session, received.readAt, left));
        if (outcome.result.extensions) exchange.headers.push(...ageHeaders(session));
      }
      const { errors } = outcome.result;
      const sent = errors ? { ...outcome, result: { ...outcome.result, errors: withHelp(errors, config) } } : outcome;
      if (received.json) json.send(received, received.json, sent);
      else await (await yoga())(exchange, parsed, sent);
    } finally {
      received.upload?.memory.release();
      (returnable ?? slot).release(); // before the client has read the response: a client that does not read must not keep a slot
    }
  };
}

/** Whether to show GraphiQL. A URL with a document is a link to GraphiQL in a browser, and a query in any other client. */
const isForPage = ({ prefersPage, isBrowser }: AcceptedTypes, { url }: IncomingMessage): boolean =>
  prefersPage && (isBrowser || !url?.includes('?'));

const isAtSlash = ({ url = '' }: IncomingMessage): boolean => /\/graphql\/(?:\?|$)/.test(url);

/** The addresses in the page are relative to /graphql. */
function redirectToGraphql({ request: { url = '' }, response }: Exchange): void {
  const at = url.indexOf('?');
  response.writeHead(308, { location: `../graphql${at < 0 ? '' : url.slice(at)}`, 'content-length': '0' }).end();
}

function sendMethods(exchange: Exchange): void {
  exchange.setHeaders();
  exchange.response.writeHead(204, { allow: METHODS, 'accept-query': 'application/json' }).end();
}
