import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { serve } from '@hono/node-server';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { afterAll } from 'vitest';
import type { EmbeddedFacade } from '../../facade.d.ts';

/** HTTP servers that embed the facade, as docs/embedding.md shows them; each returns its URL. */
export const hosts = {
  async Hono(facade: EmbeddedFacade): Promise<string> {
    const app = new Hono();
    app.get('/', (c) => c.text('the page of the host'));
    for (const path of facade.paths) app.all(path, (c) => facade.fetch(c.req.raw));
    const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
      const opened = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(opened));
    });
    afterAll(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },

  async Fastify(facade: EmbeddedFacade): Promise<string> {
    const app = fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    app.get('/', () => 'the page of the host');
    for (const path of facade.paths)
      app.all(path, async (request, reply) => {
        const disconnected = new AbortController();
        reply.raw.once('close', () => disconnected.abort());
        const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
        const webRequest = new Request(`http://${request.host}${request.url}`, {
          method: request.method,
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
          signal: disconnected.signal,
          ...(hasBody && { body: Readable.toWeb(request.raw) as BodyInit, duplex: 'half' }),
        });
        return reply.send(await facade.fetch(webRequest, { address: request.ip }));
      });
    afterAll(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
};
