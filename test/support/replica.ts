import { pino } from 'pino';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from './open-server.ts';
import { type UpstreamParts, createUpstream } from '../../src/upstream/client.ts';
import type { GraphQLResponse } from './facade.ts';
import type { TestFlags } from './config.ts';
import { patientConfig } from './patient.ts';
import { afterUse } from './hooks.ts';

/** Another facade over an existing service. */
export async function replica(service: string, settings: TestFlags = {}, parts: UpstreamParts = {}) {
  const config = patientConfig({ BASE_URL: service, EVENT_BASE_URL: service, PORT: '0' }, settings);
  const upstream = createUpstream(catalogService, { ...config, baseUrl: service, eventBaseUrl: service }, parts);
  const facade = await openServer(config, { schema, upstream, log: pino({ level: 'silent' }) });
  afterUse(async () => {
    await facade.leave();
    await upstream.close();
  });
  return clientOf(facade.url);
}

/** A client of a facade. */
export function clientOf(url: string) {
  const execute = async (query: string, token?: string, signal?: AbortSignal): Promise<GraphQLResponse> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify({ query }),
      ...(signal && { signal }),
    });
    return (await response.json()) as GraphQLResponse;
  };
  return Object.assign(execute, { url });
}
