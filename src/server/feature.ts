/** What the server is made of beside its core: features, each made from the core, and none known to it. */
import type { IncomingMessage } from 'node:http';
import type { OperationWatchers } from './graphql/ended-operation.ts';
import type { Pipeline, RunOperation } from './graphql/pipeline.ts';
import type { AddedHeaders } from './graphql/route.ts';
import type { Core } from './core.ts';
import type { Admission } from './http/connections/admission.ts';
import type { HttpRoute, RouteHandler } from './http/connections/http-server.ts';
import type { ServerState } from './http/connections/state.ts';
import type { BodyReader } from './http/request/body.ts';

/** A path, and whom it is for: an embedding program passes on those for clients. */
export interface ServerRoute extends HttpRoute {
  readonly audience: 'clients' | 'operator' | 'pages';
}

/** By path. */
export type Routes = Readonly<Record<string, ServerRoute>>;

export type AdmitRequest = (request: Pick<IncomingMessage, 'headers'>) => void;

/** A part of the server that its core does not know. All members are optional. */
export interface Feature extends Pick<OperationWatchers, 'startSpan' | 'onInvalidDocument'> {
  readonly routes?: Routes;
  /** Asked about each request of a client before anything else happens to it, a stored response included. Throws an HttpError. */
  readonly admit?: AdmitRequest;
  /** What browsers get of /graphql. */
  readonly page?: RouteHandler | undefined;
  /** Wraps what runs every operation. */
  readonly around?: (run: RunOperation) => RunOperation;
  /** What it adds to the responses of /graphql. */
  readonly headers?: AddedHeaders;
  readonly onEnd?: NonNullable<OperationWatchers['onEnd']>[number] | undefined;
  /** What a request has to wait for; undefined if there is nothing now. */
  readonly loading?: () => Promise<void> | undefined;
  /** Called before the port is opened. Rejects with a ConfigError if the feature cannot work. */
  readonly ready?: () => Promise<unknown>;
  /** Called after the last response: waits for what goes on, as long as it may. */
  readonly drain?: (withinMs: number) => Promise<void>;
  /** Called when the calls of upstream have ended. */
  readonly end?: () => Promise<void>;
}

/** What features are made from. */
export interface FeatureParts extends Core {
  readonly prepare: Pipeline['prepare'];
  /** Runs an operation as all features have it run. */
  readonly run: RunOperation;
  readonly bodies: BodyReader;
  readonly admission: Admission;
  readonly state: () => ServerState;
}

export type CreateFeatures = (parts: FeatureParts) => readonly Feature[];

/** The routes of clients, behind what features ask about each request; as they are if no feature asks. */
export function admitted(routes: Routes, features: readonly Feature[]): Routes {
  const checks = features.flatMap(({ admit }) => admit ?? []);
  if (checks.length === 0) return routes;
  const behindChecks = (route: ServerRoute): ServerRoute => ({
    ...route,
    handler: async (exchange) => {
      for (const check of checks) check(exchange.request);
      await route.handler(exchange);
    },
  });
  return Object.fromEntries(
    Object.entries(routes).map(([path, route]) => [path, route.audience === 'clients' ? behindChecks(route) : route]),
  );
}
