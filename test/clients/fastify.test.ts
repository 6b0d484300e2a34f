import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import type { EmbeddedFacade } from '../../facade.d.ts';
import { compileProblems, tsExamplesOf } from '../support/examples.ts';
import { testHost } from '../support/host.ts';
import { afterUse } from '../support/hooks.ts';

/** Fastify as docs/embedding.md shows it. */
async function host(facade: EmbeddedFacade, { http2 = false } = {}): Promise<string> {
  // The types of Fastify have a constant here.
  const app = fastify({ http2: http2 as false });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const path of facade.paths)
    app.all(path, async (request, reply) => {
      // fetch has none
      if (request.method === 'TRACE') return reply.code(405).send();
      const disconnected = new AbortController();
      reply.raw.once('close', () => disconnected.abort());
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
      // HTTP/2 has headers that begin with a colon; `host` is one of them.
      const headers = Object.entries({ host: request.host, ...request.headers }).filter(([name]) => name[0] !== ':');
      const webRequest = new Request(`http://localhost${request.url}`, {
        method: request.method,
        headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
        signal: disconnected.signal,
        ...(hasBody && { body: Readable.toWeb(request.raw) as BodyInit, duplex: 'half' }),
      });
      return reply.send(await facade.fetch(webRequest, { address: request.ip }));
    });
  app.get('/', () => 'the page of the host');
  afterUse(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

await testHost('Fastify', host);

const [, example] = tsExamplesOf('docs/embedding.md');

test('the example of the docs compiles, also with exactOptionalPropertyTypes', () => {
  expect(compileProblems('test/clients', [example!])).toEqual([]);
});

test('the docs show Fastify as it is tested', () => {
  const flat = (text: string) => text.replaceAll(/\s+|,(?=\s*[\])}])/g, '');
  const [setUp] = /app\.removeAllContentTypeParsers[^]*?\n {2}\}\);\n/.exec(example!)!;
  expect(flat(readFileSync('test/clients/fastify.test.ts', 'utf8'))).toContain(flat(setUp));
});
