import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { type IncomingHttpHeaders, connect } from 'node:http2';
import { json as consume } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EmbeddedFacade } from '../../facade.d.ts';
import { alice, bodyOf, codeOf, embedded, json, post, silentService } from './embedded.ts';
import type { GraphQLResponse } from './facade.ts';
import { journey } from './journey.ts';
import { until } from './redis.ts';
import { picture, service } from './service.ts';
import { pictures, uploadForm } from './upload.ts';

/** Tests of a facade in an HTTP server; `host` embeds it as docs/embedding.md shows it, and returns the URL. */
export async function testHost(
  name: string,
  host: (facade: EmbeddedFacade, options?: { http2: boolean }) => Promise<string>,
): Promise<void> {
  const here = await journey();
  describe(`a facade inside ${name}`, () => {
    const facade = embedded(here.origin.url);
    const url = host(facade);

    test('responds like the facade with a port, in status, headers and body', async () => {
      const query = '{ book(id: "6082808") { title series { title } } top250(first: 2) { nodes { title } } }';
      for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
        const [inside, alone] = await Promise.all(
          [await url, here.facade.url].map((each) => fetch(`${each}/graphql`, post(query, { accept }))),
        );
        expect(inside!.status).toBe(200);
        expect(inside!.headers.get('content-type')).toBe(alone!.headers.get('content-type'));
        expect(inside!.headers.get('vary')).toBe(alone!.headers.get('vary'));
        expect(inside!.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
        const response = await bodyOf(inside!);
        expect(response.data.book.title).toBe('百年孤独');
        expect(response).toEqual(await bodyOf(alone!));
      }
      const byGet = await fetch(`${await url}/graphql?query={viewer{isLoggedIn}}`);
      expect(await byGet.json()).toEqual({ data: { viewer: { isLoggedIn: false } } });
      expect(await (await fetch(await url)).text()).toBe('the page of the host');
    });

    test('serves HTTP/2', async () => {
      const session = connect(await host(facade, { http2: true }));
      onTestFinished(() => void session.close());
      const stream = session.request({ ':method': 'POST', ':path': '/graphql', ...json, ...alice, cookie: 'a=b' });
      const [headers] = (await once(
        stream.end(JSON.stringify({ query: '{ viewer { isLoggedIn } }' })),
        'response',
      )) as [IncomingHttpHeaders];
      expect(headers).toMatchObject({ ':status': 200, 'content-type': expect.stringContaining('application/json') });
      expect(await consume(stream)).toEqual({ data: { viewer: { isLoggedIn: true } } });
    });

    test.each(['localhost:99999', 'user@shop.example', 'a/b?c=', 'a b', ''])(
      'treats the Host "%s" as the facade with a port does, or refuses it',
      async (given) => {
        const [inside, alone] = await Promise.all(
          [await url, here.facade.url].map(async (each) => {
            const options = { headers: { host: given, ...json }, method: 'POST' };
            const sent = send(`${each}/graphql`, options).end('{ "query": "{ viewer { isLoggedIn } }" }');
            return ((await once(sent, 'response')) as [IncomingMessage])[0].resume().statusCode;
          }),
        );
        expect([alone, 400]).toContain(inside);
      },
    );

    test('knows no TRACE', async () => {
      const sent = send(`${await url}/graphql`, { method: 'TRACE' }).end();
      const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage];
      expect([404, 405]).toContain(statusCode);
    });

    test('executes a mutation with the token of the request, and rejects it without one', async () => {
      const write = `mutation ($input: CollectBookInput!) { collectBook(input: $input) { collection { comment } } }`;
      const comment = `from inside ${await url}`;
      const input = { bookId: '26340138', status: 'WISH', comment, onConflict: 'UPDATE', isPrivate: false };
      const anonymous = await fetch(`${await url}/graphql`, post(write, {}, { input }));
      expect(await codeOf(anonymous)).toEqual([200, 'LOGIN_REQUIRED']);
      const written = await fetch(`${await url}/graphql`, post(write, alice, { input }));
      expect(await bodyOf(written)).toEqual({ data: { collectBook: { collection: { comment } } } });
      expect((await here.origin.get('/v2/book/26340138/collection', 'alice')).body.comment).toBe(comment);
    });

    test('receives all files of an upload', async () => {
      const { pictures: numbered, files } = pictures([1, 2, 3, 4], (number) => picture('png', 100_000 * number));
      const query = `mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures note { title } } }`;
      const content = numbered.map(({ number }) => `<图片p_${number}>`).join(' ');
      const input = { title: 'from inside', content, privacy: 'PRIVATE', pictures: numbered };
      const body = uploadForm(query, { input }, files);
      const response = await fetch(`${await url}/graphql`, {
        method: 'POST',
        headers: { ...alice, 'x-graphql-csrf': '1' },
        body,
      });
      expect(await bodyOf(response)).toEqual({
        data: { createNote: { storedPictures: [1, 2, 3, 4], note: { title: 'from inside' } } },
      });
    });

    test('rejects a form that another site could send, a body that is too large, a batch and invalid JSON', async () => {
      const to = `${await url}/graphql`;
      const form = { method: 'POST', body: new URLSearchParams({ query: '{ viewer { isLoggedIn } }' }) };
      expect(await codeOf(await fetch(to, form))).toEqual([415, 'CSRF_HEADER_REQUIRED']);
      expect(await codeOf(await fetch(to, { method: 'POST', body: uploadForm('{ x }', {}, {}) }))).toEqual([
        415,
        'CSRF_HEADER_REQUIRED',
      ]);
      const large = { method: 'POST', headers: json, body: ' '.repeat(1_000_001) };
      expect(await codeOf(await fetch(to, large))).toEqual([413, 'BODY_TOO_LARGE']);
      const batch = { method: 'POST', headers: json, body: '[{"query":"{ viewer { isLoggedIn } }"}]' };
      expect(await codeOf(await fetch(to, batch))).toEqual([400, 'BATCHING_OFF']);
      expect(await codeOf(await fetch(to, { method: 'POST', headers: json, body: '{' }))).toEqual([400, 'BAD_REQUEST']);
      expect(
        await codeOf(await fetch(to, post('{ nothing }', { accept: 'application/graphql-response+json' }))),
      ).toEqual([422, 'GRAPHQL_VALIDATION_FAILED']);
      expect(await codeOf(await fetch(to, { method: 'DELETE' }))).toEqual([405, 'METHOD_NOT_ALLOWED']);
      // The next request succeeds.
      expect(await bodyOf(await fetch(to, post('{ viewer { isLoggedIn } }')))).toEqual({
        data: { viewer: { isLoggedIn: false } },
      });
    });

    test('delivers incremental responses in parts', async () => {
      const response = await fetch(
        `${await url}/graphql`,
        post('{ book(id: "6082808") { title ... @defer { summary } } }', { accept: 'multipart/mixed' }),
      );
      expect(response.headers.get('content-type')).toContain('multipart/mixed');
      const text = await response.text();
      expect(text.match(/^content-type: application\/json/gim)!.length).toBeGreaterThan(1);
      expect(text).toContain('"hasNext":false');
    });

    test('limits the rate per client address', async () => {
      const { url } = await service();
      const target = await host(embedded(url, { accessToken: undefined, filmTier: undefined }));
      const from = (localAddress: string) => {
        const dispatcher = new Agent({ localAddress });
        onTestFinished(() => dispatcher.close());
        return async (n: number) => {
          const query = `{ searchSubjects(query: "inside ${n}") { nodes { title } } }`;
          const response = await request(`${target}/graphql`, { ...post(query), method: 'POST', dispatcher });
          return (await response.body.json()) as GraphQLResponse;
        };
      };
      const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => n).map(from('127.0.0.2')));
      expect(responses.filter(({ errors }) => !errors)).toHaveLength(20);
      expect((await from('127.0.0.3')(30)).errors).toBeUndefined();
    });

    test('aborts the upstream calls of a client that disconnects', async () => {
      const silent = await silentService();
      const inside = embedded(silent.url);
      const leaving = new AbortController();
      const gone = fetch(`${await host(inside)}/graphql`, {
        ...post('{ book(id: "1") { title } }'),
        signal: leaving.signal,
      }).catch((error: Error) => error.name);
      await until(() => silent.open() === 1);
      leaving.abort();
      expect(await gone).toBe('AbortError');
      await until(() => silent.open() === 0);
    });
  });

  describe(`inside ${name} the links of a facade lead somewhere`, () => {
    test('the help of an error and the files of GraphiQL; probes and metrics are not published', async () => {
      const url = await host(embedded(here.origin.url));
      const { errors } = (await (await fetch(`${url}/graphql`, post('{ nothing }'))).json()) as {
        errors: [{ extensions: { help: string } }];
      };
      const help = await (await fetch(url + errors[0].extensions.help)).text();
      expect(help).toContain('GRAPHQL_VALIDATION_FAILED');
      const page = await (await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })).text();
      const files = [...page.matchAll(/graphql\/assets\/[\w.-]+\w/g)].map(([file]) => file);
      expect(files.length).toBeGreaterThan(6);
      for (const file of files) expect((await fetch(`${url}/${file}`)).status).toBe(200);
      expect((await fetch(`${url}/metrics`)).status).toBe(404);
    });
  });
}
