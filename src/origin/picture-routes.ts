import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Env, Hono } from 'hono';
import { etag } from 'hono/etag';
import { drawnPicture } from './rules/drawn-picture.ts';
import { Rejection } from './rules/rejection.ts';
import type { Stores } from './store/stores.ts';

/** A picture opened in a browser must not run scripts or load anything. */
const inert = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};
/** Headers that a 304 has too. */
const retainedHeaders = ['etag', 'cache-control', ...Object.keys(inert)];

/** Uploaded pictures by their stored names, and pictures that the service draws. All are public. */
export function addPictures<E extends Env>(app: Hono<E>, stores: Stores): void {
  app.get('/pictures/:name', async (c) => {
    const picture = stores.pictures.read(c.req.param('name'));
    if (!picture) throw new Rejection(1001);
    await once(picture.stream, 'open').catch(() => {
      throw new Rejection(1001);
    });
    const headers = { ...inert, 'content-type': picture.type, 'cache-control': 'public, max-age=31536000, immutable' };
    if (c.req.method === 'HEAD') {
      picture.stream.destroy(); // an unread stream keeps its file open
      return new Response(null, { headers });
    }
    return new Response(Readable.toWeb(picture.stream) as ReadableStream, { headers });
  });

  app.get('/pictures/:kind/:size/:file', etag({ retainedHeaders }), (c) => {
    const svg = drawnPicture(stores, c.req.param('kind'), c.req.param('size'), c.req.param('file'));
    // Only an hour, because the title of an event may change.
    const headers = {
      ...inert,
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': 'public, max-age=3600',
    };
    return new Response(svg, { headers });
  });
}
