import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { codesIn } from '../support/besieged.ts';
import type { Shown } from '../support/facade.ts';
import { hostile, titledX } from '../support/hostile.ts';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { picture } from '../support/service.ts';

/** A machine may be slow, or stand still for seconds: what was taken has this long. */
const patience = { ...patientEnv, SHUTDOWN_MS: '60000' };
/** Well before it would be ended. */
const BY_ITSELF_MS = 50_000;

test('SIGTERM under load: every request that was taken is answered, and it ends by itself', async () => {
  const service = await hostile((socket, heard) => setTimeout(150).then(() => titledX(socket, heard)));
  const env = { PORT: '0', BASE_URL: service.url, EVENT_BASE_URL: service.url, RECORD_TTL_SECONDS: '0' };
  const program = await startProgram({ ...env, ...patience });
  let asked = 0;
  const answered = new Map<string, string>();
  const client = async () => {
    for (;;) {
      const id = String(++asked);
      try {
        const response = await fetch(`${program.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: `{ book(id: ${id}) { title } }` }),
        });
        answered.set(id, await response.text());
      } catch {
        return; // refused, or cut before it was taken
      }
    }
  };
  const clients = Array.from({ length: 40 }, client);
  await expect.poll(() => answered.size, { timeout: 60_000 }).toBeGreaterThan(80);
  const started = performance.now();
  const { code, err } = await program.stop('SIGTERM');
  expect(performance.now() - started).toBeLessThan(BY_ITSELF_MS);
  await Promise.all(clients);
  expect([code, err]).toEqual([0, '']);
  const taken = service.heard.map(({ path }) => /\/v2\/book\/(\d+)/.exec(path)?.[1] ?? path);
  expect(taken.length).toBeGreaterThan(80);
  expect(taken.filter((id) => !answered.has(id))).toEqual([]);
  expect(new Set(answered.values())).toEqual(new Set(['{"data":{"book":{"title":"x"}}}']));
});

/** A service whose answers a test gives when it likes. */
async function held() {
  const asked: { line: string; body: Promise<string>; response: ServerResponse }[] = [];
  const server = createServer((incoming, response) => {
    incoming.on('error', () => undefined);
    asked.push({ line: `${incoming.method} ${incoming.url}`, body: text(incoming).catch(() => ''), response });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { PORT: '0', BASE_URL: url, EVENT_BASE_URL: url, RECORD_TTL_SECONDS: '0', ...patience },
    asked,
    /** Answers the request that has this in its line, and tells its body, once it has come. */
    async answer(line: string, status: number, record: object): Promise<string> {
      await expect.poll(() => asked.some((each) => each.line.includes(line)), { timeout: 60_000 }).toBe(true);
      const { body, response } = asked.find((each) => each.line.includes(line))!;
      const sent = await body;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(record));
      return sent;
    },
  };
}

/** Resolves once nobody can connect any more. */
async function refuses(url: string): Promise<void> {
  const isRefused = () =>
    fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
      () => false,
      () => true,
    );
  await expect.poll(isRefused, { timeout: 60_000, interval: 5 }).toBe(true);
}

/** A request whose body is sent as a test likes. */
function slowly(url: string, headers: Record<string, string>) {
  const outgoing = request(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: 'Bearer alice', ...headers },
  });
  outgoing.on('error', () => undefined);
  const answered = once(outgoing, 'response').then(async ([response]: IncomingMessage[]) => ({
    status: response!.statusCode,
    text: await text(response!),
  }));
  return { outgoing, answered };
}

describe('SIGTERM while an upload is on its way', () => {
  const operations = JSON.stringify({
    query: 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures note { id } } }',
    variables: { input: { title: 't', content: 'c', pictures: [{ number: 1, file: null }] } },
  });
  const part = (name: string, content: string) =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${name === '0' ? '; filename="a.png"' : ''}\r\n\r\n${content}\r\n`;
  const picturesBytes = async () => Buffer.from(await picture('png', 300_000).arrayBuffer()).toString('latin1');
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'x-graphql-csrf': '1' };

  test('it is taken to its end, stored and answered, wherever it was', async () => {
    const service = await held();
    const program = await startProgram(service.env);
    const whole = Buffer.from(
      `${part('operations', operations)}${part('map', '{"0":["variables.input.pictures.0.file"]}')}${part('0', await picturesBytes())}--x--\r\n`,
      'latin1',
    );
    const places = [40, whole.indexOf('name="map"'), 5_000, whole.length - 3];
    const uploads = places.map((place) => {
      const upload = slowly(program.url, headers);
      upload.outgoing.write(whole.subarray(0, place));
      return { ...upload, rest: whole.subarray(place) };
    });
    // Those that have come as far as a picture are passed on already.
    await expect.poll(() => service.asked.length, { timeout: 60_000 }).toBe(2);
    const metrics = async () => (await fetch(`${program.url}/metrics`)).text();
    await expect.poll(metrics, { timeout: 60_000 }).toContain('catalog_requests_running 5'); // beside the four, this one
    const started = performance.now();
    const ended = program.stop('SIGTERM');
    await refuses(program.url);
    for (const { outgoing, rest } of uploads) {
      for (let at = 0; at < rest.length; at += 100_000) {
        outgoing.write(rest.subarray(at, at + 100_000));
        await setTimeout(20);
      }
      outgoing.end();
    }
    await expect.poll(() => service.asked.length, { timeout: 60_000 }).toBe(places.length);
    for (const { body, response } of service.asked) {
      expect((await body).length).toBeGreaterThan(299_000);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"5","title":"t"}');
    }
    for (const { answered } of uploads)
      expect(await answered).toEqual({
        status: 200,
        text: '{"data":{"createNote":{"storedPictures":[1],"note":{"id":"Note:5"}}}}',
      });
    expect(await ended).toMatchObject({ code: 0, err: '' });
    expect(performance.now() - started).toBeLessThan(BY_ITSELF_MS);
  });

  test('one that never ends is told so when the time is over, and nothing of it is stored', async () => {
    const service = await held();
    const program = await startProgram({ ...service.env, SHUTDOWN_MS: '600' });
    const { outgoing, answered } = slowly(program.url, headers);
    const start = `${part('operations', operations)}${part('map', '{"0":["variables.input.pictures.0.file"]}')}`;
    outgoing.write(Buffer.from(`${start}${part('0', await picturesBytes())}`, 'latin1').subarray(0, 5_000));
    await expect.poll(() => service.asked.length, { timeout: 60_000 }).toBe(1);
    const ended = program.stop('SIGTERM');
    const { status, text } = await answered;
    expect([status, (JSON.parse(text) as Shown).data]).toEqual([200, { createNote: null }]);
    expect(codesIn(JSON.parse(text) as Shown)).toEqual(['UPSTREAM_TIMEOUT']);
    expect(await ended).toMatchObject({ code: 0, err: '' });
    expect(await service.asked[0]!.body).toBe('');
  });
});

const timedOut = expect.objectContaining({ extensions: expect.objectContaining({ code: 'UPSTREAM_TIMEOUT' }) });
/** The pieces of an answer, whichever way they are put together: each is one line. */
const piecesOf = (answer: string) =>
  answer.split(/\r?\n/).flatMap((line) => {
    const piece = line.replace(/^data: /, '');
    return piece.startsWith('{') ? [JSON.parse(piece) as unknown] : [];
  });

describe.each([
  ['multipart/mixed', '-----'],
  ['text/event-stream', 'event: complete\ndata:'],
])('SIGTERM while an answer comes in pieces, as %s', (accept, last) => {
  const query = '{ book(id: 7) { title ... @defer { summary } ... @defer { publisher } } }';
  const ask = (url: string) => {
    const asked = slowly(url, { 'content-type': 'application/json', accept });
    asked.outgoing.end(JSON.stringify({ query }));
    return asked;
  };

  test('every piece is sent, and the end', async () => {
    const service = await held();
    const program = await startProgram(service.env);
    const { outgoing, answered } = ask(program.url);
    const first = once(outgoing, 'response');
    await service.answer('fields=id,title', 200, { id: '7', title: '活着' });
    await first; // its first piece is on its way
    const started = performance.now();
    const ended = program.stop('SIGTERM');
    await refuses(program.url);
    await setTimeout(300);
    await service.answer('publisher', 200, { id: '7', summary: '后来', publisher: '作家' });
    const { status, text } = await answered;
    expect(piecesOf(text)).toEqual([
      { data: { book: { title: '活着' } }, hasNext: true },
      {
        incremental: [
          { data: { summary: '后来' }, path: ['book'] },
          { data: { publisher: '作家' }, path: ['book'] },
        ],
        hasNext: false,
      },
    ]);
    expect([status, text.trimEnd().endsWith(last)]).toEqual([200, true]);
    expect(await ended).toMatchObject({ code: 0, err: '' });
    expect(performance.now() - started).toBeLessThan(BY_ITSELF_MS);
  });

  test('a piece that never comes is told as a fault when the time is over', async () => {
    const service = await held();
    const program = await startProgram({ ...service.env, SHUTDOWN_MS: '600' });
    const { outgoing, answered } = ask(program.url);
    const first = once(outgoing, 'response');
    await service.answer('fields=id,title', 200, { id: '7', title: '活着' });
    await first;
    const ended = program.stop('SIGTERM');
    const { status, text } = await answered;
    expect(piecesOf(text)).toEqual([
      { data: { book: { title: '活着' } }, hasNext: true },
      {
        incremental: [
          { data: { summary: null }, path: ['book'], errors: [timedOut] },
          { data: { publisher: null }, path: ['book'], errors: [timedOut] },
        ],
        hasNext: false,
      },
    ]);
    expect([status, text.trimEnd().endsWith(last)]).toEqual([200, true]);
    expect(await ended).toMatchObject({ code: 0, err: '' });
  });
});
