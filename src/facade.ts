/** The facade inside another program: `import { createFacade } from 'catalog-graphql'`. */
import { join } from 'node:path';
import type { EmbeddedFacade, FacadeOptions } from '../facade.d.ts';
import type { FormattedExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { ConfigError, readOptions } from './config/read.ts';
import { createAssess } from './engine/documents/assess.ts';
import { addedParts } from './extension/added.ts';
import { createLog, logTo, logToStderr } from './lib/log.ts';
import { lazily } from './lib/promises.ts';
import { keepPluginParts } from './embedding/catalog-plugin.ts';
import { operationPrice } from './engine/documents/operation-price.ts';
import { createExecute } from './embedding/execute.ts';
import { type SendRequest, createFetchHandler } from './fetch-handler.ts';
import { packageDir } from './package.ts';
import { createCore } from './server/core.ts';
import { allFeatures } from './server/features/features.ts';
import { createGraphServer } from './server/server.ts';

export { ConfigError } from './config/read.ts';
export { catalogPlugin } from './embedding/catalog-plugin.ts';

export function createFacade(given: FacadeOptions): EmbeddedFacade {
  const { onLog, extend, services, authorize, onOperation, headersTo, ...options } = { ...given }; // called without options, it reports the missing settings
  const config = readOptions(options);
  checkFunctions({ onLog, authorize, onOperation, headersTo });
  const log = createLog(config.logLevel, onLog ? logTo(onLog) : logToStderr());
  const added = { ...addedParts(extend as never, services as never), headersTo };
  // It opens no port, so only settings can tell where the page of errors is.
  const core = createCore({ ...config, port: 0 }, log, added);
  const features = allFeatures({ graphiql: join(packageDir, 'dist/graphiql') }, { authorize, onOperation });
  const { server, prepare, paths, checkRedis, loaded, end } = createGraphServer(core, features);
  void reportRedis(checkRedis, core.keysWarning, log);
  const handler = createFetchHandler(server);

  async function close(): Promise<void> {
    await handler.close(config.shutdownMs);
    await core.close();
    await end();
  }

  let closed: Promise<void> | undefined;
  async function fetch(request: Request, from?: { address?: string } | null): Promise<Response> {
    await loaded();
    return handler.fetch(request, from);
  }
  const send: SendRequest = async (request) => {
    await loaded();
    return handler.send(request);
  };

  const run = createExecute(send);
  /** Options of their own are headers of an HTTP request. */
  const execute: EmbeddedFacade['execute'] = async (operation) => {
    const { token, explain, idempotencyKey, headers: others, address, signal, incremental, ...params } = operation;
    const headers = {
      ...others,
      ...(token != null && { authorization: `Bearer ${token}` }),
      ...(explain !== undefined && { 'x-explain': explain }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const json = 'application/json';
    const sent = { params, headers, address, mayExplain: true, json, incremental, signal } as const;
    return run(sent, (result) => result) as Promise<FormattedExecutionResult>;
  };
  const { schema } = core;
  const assess = lazily(() => createAssess(schema, core.config));
  const price: EmbeddedFacade['price'] = (document, variables, operationName) =>
    operationPrice(assess()(document, operationName, variables));
  const facade = { schema, fetch, execute, price, paths, close: () => (closed ??= close()) };
  keepPluginParts(facade, { schema, execute: run, prepare });
  return facade;
}

/** A hook that cannot be called would fail every operation. */
function checkFunctions(given: object): void {
  const wrong = Object.entries(given).filter(([, each]) => each !== undefined && typeof each !== 'function');
  if (wrong.length > 0) throw new ConfigError(wrong.map(([name]) => `${name} must be a function`));
}

/** Logs what is wrong with Redis, once it can be asked. */
async function reportRedis(
  checkRedis: () => Promise<string | undefined>,
  keysWarning: () => Promise<string | undefined>,
  log: Logger,
): Promise<void> {
  const problem = await checkRedis();
  if (problem !== undefined) return log.error(problem);
  const warning = await keysWarning();
  if (warning !== undefined) log.warn(warning);
}
