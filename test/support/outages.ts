import type { Dispatcher } from 'undici';
import { Agent, errors } from 'undici';
import { afterAll } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import type { Config } from '../../src/config/settings.ts';
import { createTransport } from '../../src/upstream/http/pool.ts';
import { executeOver } from './facade.ts';

/** The parts of a handler of undici that its pool calls, as the facade has them. */
interface Handler {
  onConnect(abort: () => void): void;
  onHeaders(status: number, headers: Buffer[]): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

const reply =
  (status: number, type: string, body: string) =>
  (handler: Handler): void => {
    handler.onHeaders(
      status,
      ['content-type', type, 'content-length', String(body.length)].map((text) => Buffer.from(text)),
    );
    handler.onData(Buffer.from(body));
    handler.onComplete();
  };
const rejection = (status: number, code: number, msg: string) =>
  reply(status, 'application/json', JSON.stringify({ code, msg, request: 'GET /' }));

/** Each kind of failure of a call, none of which says that there is no such record. (The service of events says so with any 404.) */
export const failures: Readonly<Record<string, (handler: Handler) => void>> = {
  'a rejection': rejection(403, 1000, 'need_permission'),
  'a rate limit': rejection(429, 112, 'rate_limit_exceeded2'),
  'a 500': rejection(500, 999, 'unknown_error'),
  'a 503': reply(503, 'text/html', '<h1>Service Unavailable</h1>'),
  "a gateway's 403": reply(403, 'text/html', '<h1>Forbidden</h1>'),
  "a gateway's 404": reply(404, 'text/html', '<h1>Not found</h1>'),
  'a time-out': (handler) => handler.onError(new errors.HeadersTimeoutError()),
  'a lost connection': (handler) => handler.onError(new errors.SocketError('other side closed')),
  'a cut response': (handler) => {
    handler.onHeaders(
      200,
      ['content-type', 'application/json', 'content-length', '100'].map((text) => Buffer.from(text)),
    );
    handler.onData(Buffer.from('{"id":'));
    handler.onError(new errors.SocketError('other side closed'));
  },
  'a page of a gateway': reply(200, 'text/html', '<h1>Login</h1>'),
  'an empty response': reply(200, 'application/json', ''),
};

/** Facades over an origin, whose calls fail as `fail` says, by their number from 0. */
export function failing(url: string) {
  const agent = new Agent();
  afterAll(() => agent.close());
  let calls = 0;
  let fail: (nth: number, path: string, body: unknown) => ((handler: Handler) => void) | undefined = () => undefined;
  const dispatcher = {
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler & Handler) {
      const failure = fail(calls++, options.path, options.body);
      if (!failure) return agent.dispatch(options, handler);
      setImmediate(() => {
        handler.onConnect(() => undefined);
        failure(handler);
      });
      return true;
    },
    close: () => Promise.resolve(),
  } as unknown as Dispatcher;
  return {
    /** A new facade, which knows of no call before. */
    facade(settings: Partial<Config> = {}) {
      const own = {
        ...readConfig({ ACCESS_TOKEN: 'demo-app', FILM_TIER: 'advance', BASE_URL: url, EVENT_BASE_URL: url }),
        ...settings,
      };
      const config = { ...own, baseUrl: url, eventBaseUrl: url, readAttempts: 1 };
      return executeOver(createTransport(config, dispatcher), config);
    },
    /** From now on. */
    begin(next: typeof fail = () => undefined) {
      calls = 0;
      fail = next;
    },
    /** The number of calls since then. */
    calls: () => calls,
  };
}
