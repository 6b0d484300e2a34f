import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from '../support/open-server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import type { TestFlags } from '../support/config.ts';
import { patientConfig } from '../support/patient.ts';
import { picture } from '../support/service.ts';
import { until } from '../support/redis.ts';
import { pictures, uploadForm } from '../support/upload.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';
import { afterUse } from '../support/hooks.ts';
import { listen } from '../support/listen.ts';

failOnUnhandledErrors();

/** An upstream that records complete requests, unless the test handles them. */
let received: { line: string; type: string; body: Buffer }[] = [];
let requestCount = 0;
let onRequest: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
const upstreamServer = createServer((request, response) => {
  requestCount++;
  request.on('error', () => undefined);
  if (onRequest) return onRequest(request, response);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const line = `${request.method} ${request.url}`;
    received.push({ line, type: request.headers['content-type'] ?? '', body: Buffer.concat(chunks) });
    const isNote = line.includes('note');
    response.writeHead(isNote && !/\d/.test(line.slice(-3)) ? 201 : isNote ? 200 : 201, {
      'content-type': 'application/json',
    });
    response.end(
      JSON.stringify(isNote ? { id: '5', title: '题' } : { id: '9', book_id: '7', author_id: '1', page_no: 3 }),
    );
  });
});
let [base, url] = ['', ''];
beforeAll(async () => {
  base = await listen(upstreamServer);
  url = await facadeUrl();
});

/** Another facade, with long timeouts by default. */
async function facadeUrl(settings: TestFlags = {}): Promise<string> {
  const own = { PORT: '0', BASE_URL: base, EVENT_BASE_URL: base, MAX_UPLOAD_BYTES: '9000000' };
  const config = patientConfig(own, settings);
  const upstream = createUpstream(catalogService, { ...config, baseUrl: base, eventBaseUrl: base });
  const facade = await openServer(config, { schema, upstream, log: pino({ level: 'silent' }) });
  afterUse(async () => {
    await facade.close();
    await upstream.close();
  });
  return facade.url;
}
beforeEach(() => {
  received = [];
  requestCount = 0;
  onRequest = undefined;
});

const annotate =
  'mutation ($input: CreateAnnotationInput!) { createAnnotation(input: $input) { annotation { id page } } }';
const publish =
  'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures failedPictures { number code } note { id } } }';
const text = '十六个字符以上的一段读书笔记，正好够长。';

const annotation = (
  files: Record<string, Blob>,
  numbers: readonly number[] = Object.keys(files).map((_, index) => index + 1),
) =>
  uploadForm(
    annotate,
    { input: { bookId: '7', content: text, pictures: numbers.map((number) => ({ number, file: null })) } },
    files,
  );
const pathOf = (index: number) => `input.pictures.${index}.file`;

async function send(form: BodyInit, headers: Record<string, string> = { 'x-graphql-csrf': '1' }, to = url) {
  const init = { method: 'POST', headers: { authorization: 'Bearer alice', ...headers }, body: form, duplex: 'half' };
  const response = await fetch(`${to}/graphql`, init);
  const answer = (await response.json()) as GraphQLResponse;
  return { status: response.status, code: answer.errors?.[0]?.extensions.code, answer };
}

/** A form as bytes. */
async function bytesOf(form: FormData) {
  const response = new Response(form);
  return { bytes: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type')! };
}
const sendBytes = (bytes: BodyInit, type: string, to?: string) =>
  send(bytes, { 'x-graphql-csrf': '1', 'content-type': type }, to);

/** A body that stops after these bytes without ending. */
const silentAfter = (bytes: Uint8Array) => new ReadableStream({ start: (controller) => controller.enqueue(bytes) });

test('one file may be several pictures, of one upstream request or of several', async () => {
  const file = picture('jpg', 70_000);
  const others = [2, 3, 4].map((size) => picture('png', size * 1_000));
  const input = (count: number, more: object) => ({
    input: { ...more, pictures: Array.from({ length: count }, (_, index) => ({ number: index + 1, file: null })) },
  });
  const place = (index: number) => `variables.${pathOf(index)}`;
  const twice = await send(
    uploadForm(annotate, input(2, { bookId: '7', content: text }), { f: file }, { f: [place(0), place(1)] }),
  );
  expect(twice.answer).not.toHaveProperty('errors');
  const [{ body, type }] = received as [(typeof received)[0]];
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const bytes = Buffer.from(await file.arrayBuffer());
  for (const name of ['1', '2'])
    expect(Buffer.from(await (form.get(name) as File).arrayBuffer()).equals(bytes)).toBe(true);

  const map = { f: [place(0), place(4)], a: [place(1)], b: [place(2)], c: [place(3)] };
  const files = { f: file, a: others[0]!, b: others[1]!, c: others[2]! };
  const { answer } = await send(uploadForm(publish, input(5, { title: '题', content: text }), files, map));
  expect(answer.data).toMatchObject({ createNote: { storedPictures: [1, 2, 3, 4, 5], failedPictures: [] } });

  const large = { f: picture('jpg', 3_000_000) };
  const rejected = await send(
    uploadForm(annotate, input(2, { bookId: '7', content: text }), large, { f: [place(0), place(1)] }),
  );
  expect(rejected.code).toBe('PICTURE_TOO_LARGE');
});

describe('a part that the map names is a file', () => {
  const bytes = Buffer.from(`\x89PNG\r\n\x1a\n${'x'.repeat(200)}`, 'latin1');
  const input = { bookId: '7', content: text, pictures: [{ number: 1, file: null }] };
  const part = (head: string, body: Buffer | string) =>
    Buffer.concat([Buffer.from(`--b\r\n${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
  const form = (...parts: Buffer[]) =>
    Buffer.concat([
      part(
        'Content-Disposition: form-data; name="operations"',
        JSON.stringify({ query: annotate, variables: { input } }),
      ),
      part('Content-Disposition: form-data; name="map"', JSON.stringify({ 0: [`variables.${pathOf(0)}`] })),
      ...parts,
      Buffer.from('--b--\r\n'),
    ]);
  const disposition = 'Content-Disposition: form-data; name="0"';
  test.each([
    ['without a file name', `${disposition}\r\nContent-Type: image/png`],
    ['without a file name and a type', disposition],
    ['with an empty file name', `${disposition}; filename=""\r\nContent-Type: text/plain`],
    ['with headers in another order', `content-type: image/png\r\nContent-Length: 208\r\n${disposition}`],
  ])('%s', async (_, head) => {
    const { answer } = await sendBytes(new Uint8Array(form(part(head, bytes))), 'multipart/form-data; boundary=b');
    expect(answer).toEqual({ data: { createAnnotation: { annotation: { id: 'Annotation:9', page: 3 } } } });
  });
  test('however the bytes arrive, and beside a text that the map does not name', async () => {
    const stray = part('Content-Disposition: form-data; name="token"', 'text');
    const whole = form(part(disposition, bytes), stray);
    for (const size of [1, 7, 64]) {
      const chunks = Array.from(
        { length: Math.ceil(whole.length / size) },
        (_, at) => new Uint8Array(whole.subarray(at * size, (at + 1) * size)),
      );
      const body = new ReadableStream({
        start: (controller) => {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      });
      const { answer } = await sendBytes(body, 'multipart/form-data; boundary="b"');
      expect(answer).not.toHaveProperty('errors');
    }
    const sent = await new Response(new Uint8Array(received[0]!.body), {
      headers: { 'content-type': received[0]!.type },
    }).formData();
    expect(Buffer.from(await (sent.get('1') as File).arrayBuffer()).equals(bytes)).toBe(true);
  });
});

test('a picture is sent unchanged, after the text fields, named by its number', async () => {
  const file = picture('jpg', 2_999_999);
  const { answer } = await send(annotation({ [pathOf(0)]: file }, [3]));
  expect(answer).toEqual({ data: { createAnnotation: { annotation: { id: 'Annotation:9', page: 3 } } } });
  const [{ line, type, body }] = received as [(typeof received)[0]];
  expect(line).toBe('POST /v2/book/7/annotations');
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  expect([...form.keys()]).toEqual(['content', 'privacy', '3']);
  expect([form.get('content'), form.get('privacy')]).toEqual([text, 'public']);
  const sent = form.get('3') as File;
  expect([sent.name, sent.type, sent.size]).toEqual(['3.jpeg', 'image/jpeg', 2_999_999]);
  expect(Buffer.from(await sent.arrayBuffer()).equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
});

test('the pictures of a note are named as the service names them', async () => {
  const { pictures: given, files } = pictures([1, 7]);
  const input = {
    title: '题',
    content: '文',
    canReply: false,
    pictures: [{ ...given[0], layout: 'RIGHT', caption: '图' }, given[1]],
  };
  await send(uploadForm(publish, { input }, files));
  const [{ line, type, body }] = received as [(typeof received)[0]];
  expect(line).toBe('POST /v2/notes');
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  expect(Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'))).toEqual({
    title: '题',
    content: '文',
    privacy: 'public',
    can_reply: 'false',
    pids: 'p_1,p_7',
    layout_1: 'R',
    desc_1: '图',
    layout_7: 'C',
  });
  expect([...form.keys()].slice(-2)).toEqual(['image_1', 'image_7']);
});

describe('a picture that breaks a rule aborts the upstream request, and the error names it', () => {
  const violation = async (file: Blob) => {
    const { status, code, answer } = await send(
      annotation({ [pathOf(0)]: picture('png', 500_000), [pathOf(1)]: file }),
    );
    expect([status, answer.data, received]).toEqual([200, { createAnnotation: null }, []]);
    return { code, violations: answer.errors?.[0]?.extensions.violations };
  };
  test('3,000,000 bytes', async () => {
    const path = ['input', 'pictures', 1, 'file'];
    expect(await violation(picture('png', 3_000_000))).toEqual({
      code: 'PICTURE_TOO_LARGE',
      violations: [
        {
          path,
          code: 'PICTURE_TOO_LARGE',
          limit: 2_999_999,
          actual: 3_000_000,
          message: 'A picture must have fewer than 3000000 bytes.',
        },
      ],
    });
  });
  test('content that is not a picture', async () => {
    const path = ['input', 'pictures', 1, 'file'];
    expect(await violation(picture('html', 400_000))).toEqual({
      code: 'PICTURE_TYPE',
      violations: [{ path, code: 'PICTURE_TYPE', message: 'A picture must be a JPEG, PNG, GIF or WebP file.' }],
    });
  });
  test('an empty file', async () => expect((await violation(new Blob([]))).code).toBe('PICTURE_TYPE'));
});

describe('an invalid upload is rejected:', () => {
  test('without the CSRF header', async () => {
    const { status, code } = await send(annotation({ [pathOf(0)]: picture() }), {});
    expect([status, code, requestCount]).toEqual([415, 'CSRF_HEADER_REQUIRED', 0]);
  });
  test('two files mapped to one place, and a file mapped to nothing', async () => {
    const input = {
      bookId: '7',
      content: text,
      pictures: [
        { number: 1, file: null },
        { number: 2, file: null },
      ],
    };
    const places = [`variables.${pathOf(0)}`, `variables.${pathOf(1)}`];
    const same = await send(uploadForm(annotate, { input }, { a: picture() }, { a: [places[0]!], b: [places[0]!] }));
    const nowhere = await send(uploadForm(annotate, { input }, { a: picture() }, { a: [] }));
    for (const { status, code } of [same, nowhere]) expect([status, code]).toEqual([400, 'BAD_UPLOAD']);
    expect(requestCount).toBe(0);
  });
  test('a map of more than 10 kB', async () => {
    const map = { a: [`variables.${pathOf(0)}`], ['b'.repeat(10_000)]: ['variables.input.bookId'] };
    const { status, code } = await send(uploadForm(annotate, { input: { pictures: [{}] } }, { a: picture() }, map));
    expect([status, code, requestCount]).toEqual([413, 'UPLOAD_TOO_LARGE', 0]);
  });
  test('a file in place of a text, whose message shows nothing of the file', async () => {
    const query = 'query ($query: String) { searchBooks(query: $query) { totalCount } }';
    const { code, answer } = await send(uploadForm(query, { query: null }, { query: picture() }));
    expect([code, requestCount]).toEqual(['BAD_USER_INPUT', 0]);
    expect(answer.errors?.[0]?.message).toBe(
      'Variable "$query" got invalid value a file; String cannot represent a non string value: a file',
    );
  });
  test('a file that is not in the map', async () => {
    const form = annotation({ [pathOf(0)]: picture('png', 200_000) });
    form.set('stray', picture('png', 200_000));
    const { status, code } = await send(form);
    expect([status < 500, code, received]).toEqual([true, 'BAD_UPLOAD', []]);
  });
  test('a mapped file that is missing', async () => {
    const input = {
      bookId: '7',
      content: text,
      pictures: [
        { number: 1, file: null },
        { number: 2, file: null },
      ],
    };
    const map = { a: [`variables.${pathOf(0)}`], b: [`variables.${pathOf(1)}`] };
    const { code, answer } = await send(uploadForm(annotate, { input }, { a: picture() }, map));
    expect([code, received]).toEqual(['BAD_UPLOAD', []]);
    expect(answer.errors?.[0]?.message).toBe('The file "b" is in the map, but not in the request.');
  });
  test('a Content-Length beyond the limit', async () => {
    const files = { [pathOf(0)]: picture(), [pathOf(1)]: new Blob([new Uint8Array(10_200_000)]) };
    const { bytes, type } = await bytesOf(annotation(files));
    const known = await sendBytes(new Uint8Array(bytes), type);
    expect([known.status, known.code, received]).toEqual([413, 'UPLOAD_TOO_LARGE', []]);
  });
  test('a chunked body beyond the limit', async () => {
    const files = Object.fromEntries([0, 1, 2, 3].map((index) => [pathOf(index), picture('png', 2_900_000)]));
    const response = new Response(annotation(files));
    const { code } = await sendBytes(response.body!, response.headers.get('content-type')!);
    expect([code, received]).toEqual(['UPLOAD_TOO_LARGE', []]);
  });
  test('a form that ends within a file', async () => {
    const { bytes, type } = await bytesOf(annotation({ [pathOf(0)]: picture('png', 300_000) }));
    const { code, answer } = await sendBytes(new Uint8Array(bytes.subarray(0, 200_000)), type);
    expect([code, received]).toEqual(['BAD_UPLOAD', []]);
    expect(answer.errors?.[0]?.message).toBe('The form cannot be read: Unexpected end of form');
  });
  test('a client that stops sending within a file', async () => {
    const { bytes, type } = await bytesOf(annotation({ [pathOf(0)]: picture('png', 300_000) }));
    const impatient = await facadeUrl({ requestBodyTimeoutMs: '700' });
    const { code } = await sendBytes(silentAfter(new Uint8Array(bytes.subarray(0, 200_000))), type, impatient);
    expect([code, received]).toEqual(['REQUEST_TIMEOUT', []]);
  });
  test('a client that disconnects within a file: nothing is sent', async () => {
    const { bytes, type } = await bytesOf(annotation({ [pathOf(0)]: picture('png', 300_000) }));
    const leaving = new AbortController();
    const init = {
      method: 'POST',
      headers: { authorization: 'Bearer alice', 'x-graphql-csrf': '1', 'content-type': type },
      body: silentAfter(new Uint8Array(bytes.subarray(0, 200_000))),
      duplex: 'half',
      signal: leaving.signal,
    };
    const left = expect(fetch(`${url}/graphql`, init)).rejects.toThrow();
    setTimeout(() => leaving.abort(), 200);
    await left;
    expect(requestCount).toBe(0);
  });
  test('invalid input is reported', async () => {
    const input = { bookId: '7', content: '短', pictures: [{ number: 1, file: null }] };
    const { code } = await send(uploadForm(annotate, { input }, { [pathOf(0)]: picture('png', 2_000_000) }));
    expect([code, requestCount]).toEqual(['ANNOTATION_TOO_SHORT', 0]);
  });
});

describe('files in another order than the pictures', () => {
  const sizes = [300, 2_990_000];
  let large = '';
  beforeAll(async () => {
    large = await facadeUrl({ maxUploadBytes: '40000000', maxRunningOperations: '1' });
  });
  const formWith = (query: string, input: object, places: readonly number[], size = 400_000) =>
    uploadForm(query, { input }, Object.fromEntries(places.map((index) => [pathOf(index), picture('png', size)])));

  test('are accepted in any order if one upstream request takes them all', async () => {
    const input = { bookId: '7', content: text, pictures: [1, 2, 3].map((number) => ({ number, file: null })) };
    const { answer } = await send(formWith(annotate, input, [2, 0, 1]));
    expect(answer.errors).toBeUndefined();
    const form = await new Response(new Uint8Array(received[0]!.body), {
      headers: { 'content-type': received[0]!.type },
    }).formData();
    expect([...form.keys()].slice(2)).toEqual(['1', '2', '3']);
  });
  test.each(sizes)('are stored if a later upstream request needs the first file: files of %i bytes', async (size) => {
    const input = { title: '题', content: '文', pictures: [1, 2, 3, 4].map((number) => ({ number, file: null })) };
    for (const order of [
      [3, 0, 1, 2],
      [3, 2, 1, 0],
      [0, 3, 1, 2],
    ]) {
      const { answer } = await send(formWith(publish, input, order, size), undefined, large);
      expect(answer.data?.createNote).toMatchObject({ storedPictures: [1, 2, 3, 4], failedPictures: [] });
    }
  });
  test.each(sizes)('are stored if two mutations use them crosswise: files of %i bytes', async (size) => {
    const query = `mutation ($a: CreateAnnotationInput!, $b: CreateAnnotationInput!) {
      a: createAnnotation(input: $a) { annotation { id } } b: createAnnotation(input: $b) { annotation { id } }
    }`;
    const input = () => ({ bookId: '7', content: text, pictures: [1, 2].map((number) => ({ number, file: null })) });
    const places = ['b.pictures.1.file', 'a.pictures.1.file', 'b.pictures.0.file', 'a.pictures.0.file'];
    const files = Object.fromEntries(places.map((place, index) => [place, picture('png', size - index)]));
    const { answer } = await send(uploadForm(query, { a: input(), b: input() }, files), undefined, large);
    expect(answer.errors).toBeUndefined();
    const names = ({ body, type }: (typeof received)[0]) =>
      new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    const sent = await Promise.all(received.map(names));
    expect(sent.map((form) => [(form.get('1') as File).size, (form.get('2') as File).size])).toEqual([
      [size - 3, size - 1],
      [size - 2, size],
    ]);
  });
  test.each(sizes)('are discarded if the mutation that has them is rejected: files of %i bytes', async (size) => {
    const query = `mutation ($a: CreateAnnotationInput!, $b: CreateAnnotationInput!) {
      a: createAnnotation(input: $a) { annotation { id } } b: createAnnotation(input: $b) { annotation { id } }
    }`;
    const input = (content: string) => ({ bookId: '7', content, pictures: [{ number: 1, file: null }] });
    const files = { 'a.pictures.0.file': picture('png', size), 'b.pictures.0.file': picture('png', size) };
    for (const places of [Object.entries(files), Object.entries(files).reverse()]) {
      const form = uploadForm(query, { a: input('短'), b: input(text) }, Object.fromEntries(places));
      const { answer } = await send(form, undefined, large);
      expect(answer.errors?.map(({ path }) => path)).toEqual([['a']]);
      expect(answer.data.b).toEqual({ annotation: { id: 'Annotation:9' } });
    }
  });
  test('are twelve pictures of 2.9 MB, the last one first', async () => {
    const numbers = Array.from({ length: 12 }, (_, at) => at + 1);
    const input = { title: '题', content: '文', pictures: numbers.map((number) => ({ number, file: null })) };
    const order = numbers.map((number) => number - 1).reverse();
    const { answer } = await send(formWith(publish, input, order, 2_900_000), undefined, large);
    expect(answer.data?.createNote).toMatchObject({ storedPictures: numbers, failedPictures: [] });
  });
  test('are rejected at once if all of them never fit into memory', async () => {
    const input = { title: '题', content: '文', pictures: [1, 2, 3, 4].map((number) => ({ number, file: null })) };
    const narrow = await facadeUrl({ maxHeldUploadBytes: '400000' });
    const form = () => formWith(publish, input, [3, 0, 1, 2], 300_000);
    const { code } = await send(form(), undefined, narrow);
    expect([code, received]).toEqual(['UPLOAD_TOO_LARGE', []]);
    // What the rejected requests held is free again.
    for (let count = 0; count < 10; count++) await send(form(), undefined, narrow);
    const small = await send(formWith(publish, input, [3, 0, 1, 2], 20_000), undefined, narrow);
    expect(small.answer.data?.createNote).toMatchObject({ storedPictures: [1, 2, 3, 4], failedPictures: [] });
  });
  test('are counted by a gauge while they are held in memory', async () => {
    const input = { title: '题', content: '文', pictures: [1, 2].map((number) => ({ number, file: null })) };
    const { bytes, type } = await bytesOf(formWith(publish, input, [1, 0], 200_000));
    const held = async () =>
      Number(/^catalog_held_upload_bytes (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
    let body!: ReadableStreamDefaultController<Uint8Array>;
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
    const answered = sendBytes(stream, type);
    body.enqueue(new Uint8Array(bytes.subarray(0, 210_000))); // all of the second picture, and the beginning of the first
    await until(async () => (await held()) > 200_000);
    body.enqueue(new Uint8Array(bytes.subarray(210_000)));
    body.close();
    expect((await answered).answer.data?.createNote).toMatchObject({ storedPictures: [1, 2] });
    await until(async () => (await held()) === 0);
  });
  test('do not hold a slot: other operations run meanwhile', async () => {
    const single = await facadeUrl({ maxRunningOperations: '1', maxUploadBytes: '40000000' });
    const input = { title: '题', content: '文', pictures: [1, 2, 3, 4].map((number) => ({ number, file: null })) };
    const all = await Promise.all(
      [300, 40_000, 70_000].map((size) => send(formWith(publish, input, [3, 2, 1, 0], size), undefined, single)),
    );
    for (const { answer } of all) expect(answer.data?.createNote).toMatchObject({ storedPictures: [1, 2, 3, 4] });
  });
  test('of two mutations in one request are assigned to their own mutation', async () => {
    const query = `mutation ($a: CreateAnnotationInput!, $b: CreateAnnotationInput!) {
      a: createAnnotation(input: $a) { annotation { id } } b: createAnnotation(input: $b) { annotation { id } }
    }`;
    const input = (content: string) => ({ bookId: '7', content, pictures: [{ number: 1, file: null }] });
    const files = { 'a.pictures.0.file': picture('html', 400_000), 'b.pictures.0.file': picture('gif', 400_000) };
    const { answer } = await send(uploadForm(query, { a: input(text), b: input(text) }, files));
    expect(answer.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([[['a'], 'PICTURE_TYPE']]);
    expect(answer.data.b).toEqual({ annotation: { id: 'Annotation:9' } });
  });
});

describe('memory', () => {
  const heldAt = async (at: string) =>
    Number(/^catalog_held_upload_bytes (\d+)$/m.exec(await (await fetch(`${at}/metrics`)).text())?.[1]);
  const one = () => annotation({ [pathOf(0)]: picture('png', 300_000) });
  const annotated = { data: { createAnnotation: { annotation: { id: 'Annotation:9', page: 3 } } } };

  /** A form that is sent up to its middle. */
  async function halfSent(to: string) {
    const { bytes, type } = await bytesOf(one());
    let body!: ReadableStreamDefaultController<Uint8Array>;
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
    const answered = sendBytes(stream, type, to);
    body.enqueue(new Uint8Array(bytes.subarray(0, 150_000)));
    await until(async () => (await heldAt(to)) > 0);
    return {
      answered,
      finish() {
        body.enqueue(new Uint8Array(bytes.subarray(150_000)));
        body.close();
      },
    };
  }

  test('is reserved for a whole form before it is read: another one waits unread, and begins when there is some', async () => {
    const narrow = await facadeUrl({ maxHeldUploadBytes: '400000' });
    const first = await halfSent(narrow);
    const second = send(one(), undefined, narrow);
    expect(await heldAt(narrow)).toBe(400_000); // a form that does not say its length has that of the largest
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([await heldAt(narrow), received]).toEqual([400_000, []]);
    first.finish();
    for (const { answer } of [await first.answered, await second]) expect(answer).toEqual(annotated);
    await until(async () => (await heldAt(narrow)) === 0);
  });

  test('that is not free in time is a 503 with Retry-After, and the form that has it goes on', async () => {
    const narrow = await facadeUrl({ maxHeldUploadBytes: '400000', uploadTimeoutMs: '1000' });
    const first = await halfSent(narrow);
    const response = await fetch(`${narrow}/graphql`, {
      method: 'POST',
      headers: { authorization: 'Bearer alice', 'x-graphql-csrf': '1' },
      body: one(),
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'OVERLOADED' } }] });
    first.finish();
    expect((await first.answered).answer).toEqual(annotated);
  });

  test('is held while a write with a key uses the files, although its client has left', async () => {
    const to = await facadeUrl();
    let respond: (() => void) | undefined;
    onRequest = (request, response) => {
      const end = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.method !== 'POST') return void end(404, { code: 6000, msg: 'no' });
      request.resume().on('end', () => (respond = () => end(201, { id: '9', book_id: '7', author_id: '1' })));
    };
    const leaving = new AbortController();
    const left = fetch(`${to}/graphql`, {
      method: 'POST',
      headers: { authorization: 'Bearer alice', 'x-graphql-csrf': '1', 'idempotency-key': 'a'.repeat(20) },
      body: one(),
      signal: leaving.signal,
    }).catch(() => 'left');
    await until(() => respond !== undefined);
    leaving.abort();
    expect(await left).toBe('left');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await heldAt(to)).toBeGreaterThan(300_000);
    respond!();
    await until(async () => (await heldAt(to)) === 0);
  });

  test('is not held by a sender of 5 kB/s for long, who has no slot meanwhile', async () => {
    const single = await facadeUrl({
      maxRunningOperations: '1',
      maxWaitingOperations: '1',
      requestBodyTimeoutMs: '2000',
    });
    const { bytes, type } = await bytesOf(annotation({ [pathOf(0)]: picture('png', 2_000_000) }));
    let at = 0;
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        controller.enqueue(new Uint8Array(bytes.subarray(at, (at += 500))));
      },
    });
    const answered = sendBytes(slow, type, single);
    await until(async () => (await heldAt(single)) > 0);
    for (let count = 0; count < 3; count++) {
      expect(await (await fetch(`${single}/metrics`)).text()).toMatch(/^catalog_operations_running 0$/m);
      expect((await send(annotation({}), undefined, single)).status).toBe(200);
    }
    expect((await answered).code).toBe('REQUEST_TIMEOUT');
    expect([await heldAt(single), received.filter(({ type: of }) => of.startsWith('multipart'))]).toEqual([0, []]);
  });
});

describe('an upstream that fails during an upload', () => {
  const upload = (to?: string) => send(annotation({ [pathOf(0)]: picture('png', 2_900_000) }), undefined, to);

  test('by reading no more: timeout', async () => {
    onRequest = (request) => void request.pause();
    const { code } = await upload(await facadeUrl({ headersTimeoutMs: '400' }));
    expect(['UPSTREAM_TIMEOUT', 'UPSTREAM_RESULT_UNKNOWN']).toContain(code);
  });
  test('by closing the connection: unavailable, or unknown if it may have been read', async () => {
    onRequest = (request) => void request.once('data', () => request.destroy());
    expect(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_RESULT_UNKNOWN']).toContain((await upload()).code);
  });
  test('by rejecting it before it has read all: the rejection is reported', async () => {
    onRequest = (request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 1003, msg: 'image_too_large', request: '' }));
      request.resume();
    };
    expect((await upload()).code).toBe('PICTURE_TOO_LARGE');
  });
  test('by reading all without a response: the result is unknown', async () => {
    onRequest = (request) => void request.resume();
    expect((await upload(await facadeUrl({ callTimeoutMs: '400' }))).code).toBe('UPSTREAM_RESULT_UNKNOWN');
  });
  test('at a later request of a note: the stored and the failed pictures are reported', async () => {
    const lines: string[] = [];
    onRequest = (request, response) => {
      lines.push(`${request.method} ${request.url}`);
      request.resume().on('end', () => {
        const isFirst = lines.length === 1;
        response.writeHead(isFirst ? 201 : 503, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isFirst ? { id: '5', title: '题' } : {}));
      });
    };
    const { pictures: given, files } = pictures([1, 2, 3, 4, 5, 6, 7], () => picture('png', 200_000));
    const { answer } = await send(
      uploadForm(publish, { input: { title: '题', content: '文', pictures: given } }, files),
    );
    const failed = [4, 5, 6, 7].map((number) => ({ number, code: 'UPSTREAM_RESULT_UNKNOWN' }));
    expect(answer.data.createNote).toMatchObject({ storedPictures: [1, 2, 3], failedPictures: failed });
    expect(lines).toEqual(['POST /v2/notes', 'POST /v2/note/5']);
  });
  test('does not harm the facade', async () => {
    expect((await upload()).answer.errors).toBeUndefined();
  });
});
