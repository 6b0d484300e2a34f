import { createServer } from 'node:http';
import type { EmbeddedFacade, FacadeOptions } from '../../facade.d.ts';
import { createFacade } from '../../src/facade.ts';
import type { GraphQLResponse } from './facade.ts';
import { listen } from './listen.ts';
import { patient } from './patient.ts';
import { afterUse } from './hooks.ts';

const { callTimeoutMs, operationTimeoutMs } = patient;

export const settingsFor = (url: string): FacadeOptions => ({
  callTimeoutMs,
  operationTimeoutMs,
  baseUrl: url,
  eventBaseUrl: url,
  accessToken: 'demo-app',
  filmTier: 'advance',
  logLevel: 'silent',
});

/** A facade without a port, over the service at `url`. */
export function embedded(url: string, more: Partial<FacadeOptions> = {}): EmbeddedFacade {
  const facade = createFacade({ ...settingsFor(url), ...more });
  afterUse(() => facade.close());
  return facade;
}

export const json = { 'content-type': 'application/json' };
export const alice = { authorization: 'Bearer demo-alice' };
export const post = (query: string, headers: object = {}, variables?: object) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: JSON.stringify({ query, variables }),
});
export const bodyOf = async (response: Response) => (await response.json()) as GraphQLResponse;
export const codeOf = async (response: Response) => {
  const { errors } = await bodyOf(response);
  return [response.status, errors?.[0]?.extensions.code];
};

/** A service that holds every request until `respond` is called. */
export async function silentService() {
  let [requests, open] = [0, 0];
  let respond = (_: string) => undefined as void;
  const server = createServer((_, response) => {
    requests++;
    open++;
    response.once('close', () => open--);
    respond = (body) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  return {
    url: await listen(server),
    requests: () => requests,
    open: () => open,
    respond: (body: string) => respond(body),
  };
}
