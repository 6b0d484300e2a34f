import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpBindings, getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { createAccess } from './access.ts';
import { addressOf, withAddress } from './address.ts';
import { errorResponse, exchange } from './exchange.ts';
import { addPictures } from './picture-routes.ts';
import { routes } from './routes.ts';
import { Rejection } from './rules/rejection.ts';
import { openDatabase } from './store/database/database.ts';
import { createPictureStore } from './store/pictures.ts';
import { fillOnce } from './store/seed/seed.ts';
import { createStores } from './store/stores.ts';
import { setDemoTokens } from './store/tokens.ts';

export interface OriginOptions {
  /** Contains the database and the pictures; created if it does not exist. */
  dataDir: string;
  /** 0: any free port. */
  port: number;
  host: string;
  /** Contains the demo data that an empty database is filled with. */
  demoDir: string;
  /** Whether the fixed tokens of the demo users are accepted. */
  demoTokens: boolean;
  /** Base URL of links in records; by default the one that each client used. */
  publicUrl?: string | undefined;
  /** Called with internal errors; by default they are written to standard error. */
  onError?: (error: unknown, request: string) => void;
  now?: () => number;
}
export interface Origin {
  url: string;
  port: number;
  /** Whether this start filled an empty database. */
  seeded: boolean;
  close(): Promise<void>;
}

/** How long close() waits for running requests. */
const CLOSE_MS = 8_000;

/**
 * Longer than the 60 s for which a proxy keeps an idle connection: the proxy must be the one that closes. A write that it sends while
 * the origin closes the connection is lost.
 */
const IDLE_MS = 65_000;

type Env = { Bindings: HttpBindings };

/** Opens the database, fills it if it is empty, and listens. */
export async function openOrigin(options: OriginOptions): Promise<Origin> {
  const { host, now = Date.now } = options;
  const { onError = (error, request) => console.error(`origin: ${request} failed:`, error) } = options;
  const db = openDatabase(options.dataDir);
  try {
    const seeded = fillOnce(db, options.demoDir);
    setDemoTokens(db, options.demoTokens);
    db.beginServing();

    const pictures = createPictureStore(options.dataDir);
    const stores = createStores(db, pictures);
    const access = createAccess(db, now);

    const app = new Hono<Env>();
    const requestLine = (c: Context<Env>) => `${c.req.method} ${new URL(c.req.url).pathname}`;
    app.use((c, next) => withAddress(options.publicUrl ?? addressOf(c.env.incoming), next));
    for (const route of routes) {
      app.on(route.endpoint.method, route.endpoint.path, (c) => {
        const { incoming } = c.env;
        const requester = access.requesterOf(c.req.header('authorization'), incoming.socket.remoteAddress ?? '');
        access.admit(route.endpoint, requester);
        const query = new URL(c.req.url).searchParams;
        const caller = { ...stores, ...requester, now: now() };
        return exchange(route, { params: c.req.param(), query, incoming }, caller);
      });
    }
    addPictures(app, stores);
    for (const path of new Set(routes.map((route) => route.endpoint.path))) {
      app.all(path, () => {
        throw new Rejection(1014);
      });
    }
    app.notFound((c) => errorResponse(new Rejection(1001), requestLine(c)));
    app.onError((error, c) => {
      if (!(error instanceof Rejection)) onError(error, requestLine(c));
      return errorResponse(error, requestLine(c));
    });

    const listener = getRequestListener(app.fetch);
    const server = createServer((request, response) => void listener(request, response));
    server.keepAliveTimeout = IDLE_MS;
    server.listen(options.port, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return {
      url,
      port,
      seeded,
      async close() {
        const closed = once(server, 'close');
        server.close();
        // A client that sends its body too slowly is disconnected.
        const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
        await closed;
        clearTimeout(timer);
        db.close();
      },
    };
  } catch (error) {
    db.close();
    throw error;
  }
}
