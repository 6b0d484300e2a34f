// Malformed forms sent to the whole program: neither facade nor origin crashes.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { thorough } from '../support/optional.ts';
import { startProgram } from '../support/program.ts';
import { picture } from '../support/service.ts';
import { uploadForm } from '../support/upload.ts';

const program = await startProgram({ PORT: '0', ORIGIN_PORT: '0' });
/** Connections at once. */
const TOGETHER = 20;
const graph = new URL(`${program.url}/graphql`);
const origin = new URL(program.origin);

const publish =
  'mutation ($input: CreateNoteInput!) { createNote(input: $input) { failedPictures { code } note { id } } }';
const given = [1, 2].map((number) => ({ number, file: null }));
const noteForm = (second: Blob) =>
  uploadForm(
    publish,
    { input: { title: '题', content: '文', pictures: given } },
    { 'input.pictures.0.file': picture('png', 300), 'input.pictures.1.file': second },
  );

async function bytesOf(form: FormData) {
  const response = new Response(form);
  return { bytes: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type')! };
}

/** A form for the origin: two texts and a picture. */
function originForm() {
  const form = new FormData();
  form.set('title', '题');
  form.set('content', '<图片p_1>');
  form.set('pids', 'p_1');
  form.set('image_1', picture('png', 300), '1.png');
  return bytesOf(form);
}

/** Sends these bytes as a body with this Content-Length; resolves with the response when the connection is closed. */
function sendRaw({ hostname, port }: URL, path: string, type: string, body: Uint8Array, length: number) {
  return new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    const token = 'authorization: Bearer demo-alice\r\nx-graphql-csrf: 1\r\nconnection: close\r\n';
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\n${token}content-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`,
    );
    socket.write(body, () => {
      // A body that is shorter than Content-Length breaks off. Half-closing would leave the server waiting.
      if (body.length < length) setTimeout(() => socket.destroy(), 3);
    });
  });
}
const targets = [
  ['the facade', graph, '/graphql', () => bytesOf(noteForm(picture('png', 300)))],
  ['the origin', origin, '/v2/notes', originForm],
] as const;

test('a picture together with a file that is no picture is rejected with a code, however often it is sent', async () => {
  for (let round = 0; round < 30; round++) {
    const response = await fetch(graph, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-alice', 'x-graphql-csrf': '1' },
      body: noteForm(new Blob(['no picture'])),
    });
    const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['PICTURE_TYPE']);
  }
  program.expectUnharmed();
});

test.each(targets)('a form that is truncated at any byte is rejected by %s', async (_, url, path, make) => {
  const { bytes, type } = await make();
  const [step, lastStep] = thorough ? [5, 1] : [25, 3];
  const ends: number[] = [];
  for (let end = 0; end < bytes.length - 2; end += end < bytes.length - 400 ? step : lastStep) ends.push(end);
  for (let at = 0; at < ends.length; at += TOGETHER)
    await Promise.all(
      ends.slice(at, at + TOGETHER).map(async (end) => {
        const answer = await sendRaw(url, path, type, bytes.subarray(0, end), end);
        expect(answer, `${end} of ${bytes.length} bytes`).toMatch(/^HTTP\/1\.1 [24]\d\d[^]*"code"/);
      }),
    );
  program.expectUnharmed();
});

test.each(targets)('an upload that is aborted at any byte does not harm %s', async (_, url, path, make) => {
  const { bytes, type } = await make();
  const step = thorough ? 3 : 9;
  const ends = Array.from({ length: Math.ceil(bytes.length / step) }, (_, nth) => nth * step);
  for (let at = 0; at < ends.length; at += TOGETHER)
    await Promise.all(
      ends.slice(at, at + TOGETHER).map((end) => sendRaw(url, path, type, bytes.subarray(0, end), bytes.length)),
    );
  program.expectUnharmed();
});

test.each(targets)('a part with a malformed header is rejected by %s', async (_, url, path, make) => {
  const { bytes, type } = await make();
  const text = bytes.toString('latin1');
  const marks = [...text.matchAll(/content-disposition/gi)].map(({ index }) => index);
  for (const at of marks) {
    const broken = Buffer.from(`${text.slice(0, at)}\0:::${text.slice(at)}`, 'latin1');
    expect(await sendRaw(url, path, type, broken, broken.length)).toMatch(/^HTTP\/1\.1 [24]\d\d/);
  }
  program.expectUnharmed();
});

test.each([
  ['the facade', graph],
  ['the origin', origin],
])('%s survives any malformed request line or header', async (_, { hostname, port }) => {
  const heads = [
    'GET // HTTP/1.1\r\nhost: x',
    'GET /v2/book/%E0%A4%A HTTP/1.1\r\nhost: x',
    'GET /v2/book/1?fields=%FF&q=%ED%A0%80 HTTP/1.1\r\nhost: x',
    'GET /graphql?query=%FF&variables=%7B HTTP/1.1\r\nhost: x',
    'GET http://[ HTTP/1.1\r\nhost: x',
    'GET /v2/book/1 HTTP/1.1\r\nhost: [',
    'GET /v2/book/1 HTTP/1.1\r\nhost: a b',
    'GET /pictures/..%2f..%2forigin.db HTTP/1.1\r\nhost: x',
    'GET /pictures/%00 HTTP/1.1\r\nhost: x',
    'OPTIONS * HTTP/1.1\r\nhost: x',
    'CONNECT x:1 HTTP/1.1\r\nhost: x',
    'TRACE / HTTP/1.1\r\nhost: x',
    'GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade',
    'POST /graphql HTTP/1.1\r\nhost: x\r\nexpect: nothing\r\ncontent-length: 1',
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=\r\nx-graphql-csrf: 1\r\ncontent-length: 2',
    'POST /v2/notes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer demo-alice\r\ncontent-type: multipart/form-data\r\ncontent-length: 2',
    'POST /v2/notes HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 2',
  ];
  const send = (head: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(`${head}\r\n\r\n`));
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.once('data', () => setTimeout(() => socket.destroy(), 2));
      setTimeout(() => socket.destroy(), 200);
    });
  await Promise.all(heads.map(send));
  program.expectUnharmed();
});
