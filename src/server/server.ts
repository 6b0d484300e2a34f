/** The server: its core, what features add, and their routes on one port. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { lazily } from '../lib/promises.ts';
import type { Core } from './core.ts';
import { type CreateFeatures, type Routes, admitted } from './feature.ts';
import { createGraphql } from './graphql/graphql.ts';
import { Admission } from './http/connections/admission.ts';
import { HttpServer } from './http/connections/http-server.ts';
import { shutDown } from './http/connections/shutdown.ts';
import { type ServerState, serverState } from './http/connections/state.ts';
import { createBodyReader } from './http/request/body.ts';
import { UploadMemory } from './http/request/upload-memory.ts';
import { statusesOf } from './http/response/status.ts';
import { createProbes } from './probes.ts';

export interface Facade {
  url: string;
  port: number;
  /** What is in progress now. All numbers are zero when idle. */
  state(): ServerState;
  close(): Promise<void>;
}

export type GraphServer = ReturnType<typeof createGraphServer>;

/** Opens the port. `close` finishes running requests first. */
export async function openServer(core: Core, graphServer: GraphServer): Promise<Facade> {
  const { server, shutDown, ready, state } = graphServer;
  const { port: asked, host } = core.config;
  await ready();
  // If the backlog is full, the system makes a client wait for seconds before it tries again.
  server.listen({ port: asked, host, backlog: 4_096 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://${shownHost(host)}:${port}`;
  return { url, port, state, close: lazily(shutDown) };
}

/** A server without a port. */
export function createGraphServer(core: Core, createFeatures: CreateFeatures) {
  const { config, upstream, log, metrics } = core;
  const bodies = createBodyReader(config);
  const uploads = new UploadMemory(config);
  const admission = new Admission(config);
  const statusOf = statusesOf(config.httpStatuses);
  const http = new HttpServer({ config, statusOf, log, metrics, admission });
  const state = () => serverState({ http, admission, bodies, uploads, upstream });
  const features = createFeatures({
    ...{ ...core, bodies, admission, state },
    // Features are made first, because what runs operations is made of them.
    prepare: (text, operationName) => graphql.prepare(text, operationName),
    run: (prepared, request) => graphql.run(prepared, request),
  });
  const graphql = createGraphql(core, features, { statusOf, bodies, uploads, admission });
  const trouble = () => (http.isDraining ? 'shutting down' : admission.isStuck() ? 'overloaded' : undefined);
  const own: Routes = {
    '/graphql': { handler: graphql.route, audience: 'clients', mayEndInSlash: true },
    ...createProbes({ upstream, trouble }),
  };
  const routes = features.reduce((all, feature): Routes => ({ ...all, ...feature.routes }), own);
  http.serve(admitted(routes, features));
  /** Waits for what a request has to wait for. */
  const loaded = async (): Promise<void> => {
    for (const { loading } of features) await loading?.();
  };

  return {
    server: http.server,
    prepare: graphql.prepare,
    state,
    /** For clients; the others are for the operator, or for the host's own pages. */
    paths: Object.keys(routes).filter((path) => routes[path]!.audience === 'clients'),
    /** A sentence if the Redis cannot be used as it is set. */
    checkRedis: upstream.checkRedis,
    ready: async (): Promise<void> => {
      await loaded();
      for (const { ready } of features) await ready?.();
    },
    loaded,
    shutDown: async (): Promise<void> => {
      const endsAt = performance.now() + config.shutdownMs;
      await shutDown(http, config);
      for (const { drain } of features) await drain?.(endsAt - performance.now());
    },
    /** Ends what features have begun. Called when upstream is closed. */
    end: async (): Promise<void> => {
      for (const { end } of features) await end?.();
    },
  };
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
