import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { codesIn } from '../support/start-facade.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { hostile, titledX } from '../support/hostile.ts';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { picture } from '../support/service.ts';
import { afterUse } from '../support/hooks.ts';

/** Generous timeouts: a machine may be slow or stall for seconds. */
const longShutdown = { ...patientEnv, SHUTDOWN_MS: '60000' };
/** Well before SHUTDOWN_MS. */
const BY_ITSELF_MS = 50_000;

test('SIGTERM under load: every accepted request gets its response, and the process exits by itself', async () => {
  const service = await hostile((socket, upstreamRequest) =>
    setTimeout(150).then(() => titledX(socket, upstreamRequest)),
  );
  const env = { PORT: '0', BASE_URL: service.url, EVENT_BASE_URL: service.url, RECORD_TTL_SECONDS: '0' };
  const program = await startProgram({ ...env, ...longShutdown });
  let requests = 0;
  const responses = new Map<string, string>();
  const client = async () => {
    for (;;) {
      const id = String(++requests);
      try {
        const response = await fetch(`${program.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: `{ book(id: ${id}) { title } }` }),
        });
        responses.set(id, await response.text());
      } catch {
        return; // refused, or closed before it was accepted
      }
    }
  };
  const clients = Array.from({ length: 40 }, client);
  await expect.poll(() => responses.size).toBeGreaterThan(80);
  const started = performance.now();
  const { code, err } = await program.stop('SIGTERM');
  expect(performance.now() - started).toBeLessThan(BY_ITSELF_MS);
  await Promise.all(clients);
  expect([code, err]).toEqual([0, '']);
  const accepted = service.requests.map(({ path }) => /\/v2\/book\/(\d+)/.exec(path)?.[1] ?? path);
  expect(accepted.length).toBeGreaterThan(80);
  expect(accepted.filter((id) => !responses.has(id))).toEqual([]);
  expect(new Set(responses.values())).toEqual(new Set(['{"data":{"book":{"title":"x"}}}']));
});

/** A service whose responses the test controls. */
async function controlledService() {
  const requests: { line: string; body: Promise<string>; response: ServerResponse }[] = [];
  const server = createServer((incoming, response) => {
    incoming.on('error', () => undefined);
    requests.push({ line: `${incoming.method} ${incoming.url}`, body: text(incoming).catch(() => ''), response });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterUse(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { PORT: '0', BASE_URL: url, EVENT_BASE_URL: url, RECORD_TTL_SECONDS: '0', ...longShutdown },
    requests,
    /** Responds to the request with this text in its request line, and returns the request's body. */
    async answer(line: string, status: number, record: object): Promise<string> {
      await expect.poll(() => requests.some((each) => each.line.includes(line))).toBe(true);
      const { body, response } = requests.find((each) => each.line.includes(line))!;
      const sent = await body;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(record));
      return sent;
    },
  };
}

/** Resolves when new connections are refused. */
async function refusesConnections(url: string): Promise<void> {
  const isConnectionRefused = () =>
    fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
      () => false,
      () => true,
    );
  await expect.poll(isConnectionRefused, { interval: 5 }).toBe(true);
}

/** A request whose body the test sends in parts. */
function startRequest(url: string, headers: Record<string, string>) {
  const outgoing = request(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: 'Bearer alice', ...headers },
  });
  outgoing.on('error', () => undefined);
  const result = once(outgoing, 'response').then(async ([response]: IncomingMessage[]) => ({
    status: response!.statusCode,
    text: await text(response!),
  }));
  return { outgoing, result };
}

describe('SIGTERM during an upload', () => {
  const operations = JSON.stringify({
    query: 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures note { id } } }',
    variables: { input: { title: 't', content: 'c', pictures: [{ number: 1, file: null }] } },
  });
  const part = (name: string, content: string) =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${name === '0' ? '; filename="a.png"' : ''}\r\n\r\n${content}\r\n`;
  const picturesBytes = async () => Buffer.from(await picture('png', 300_000).arrayBuffer()).toString('latin1');
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'x-graphql-csrf': '1' };

  test('an upload is received, stored and answered, wherever it was interrupted', async () => {
    const service = await controlledService();
    const program = await startProgram(service.env);
    const whole = Buffer.from(
      `${part('operations', operations)}${part('map', '{"0":["variables.input.pictures.0.file"]}')}${part('0', await picturesBytes())}--x--\r\n`,
      'latin1',
    );
    const positions = [40, whole.indexOf('name="map"'), 5_000, whole.length - 3];
    const uploads = positions.map((position) => {
      const upload = startRequest(program.url, headers);
      upload.outgoing.write(whole.subarray(0, position));
      return { ...upload, rest: whole.subarray(position) };
    });
    const metrics = async () => (await fetch(`${program.url}/metrics`)).text();
    await expect.poll(metrics).toContain('catalog_requests_running 5'); // the four uploads and this request
    const started = performance.now();
    const exit = program.stop('SIGTERM');
    await refusesConnections(program.url);
    for (const { outgoing, rest } of uploads) {
      for (let at = 0; at < rest.length; at += 100_000) {
        outgoing.write(rest.subarray(at, at + 100_000));
        await setTimeout(20);
      }
      outgoing.end();
    }
    for (let at = 0; at < positions.length; at++) {
      await expect.poll(() => service.requests.length).toBeGreaterThan(at);
      const { body, response } = service.requests[at]!;
      expect((await body).length).toBeGreaterThan(299_000);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"5","title":"t"}');
    }
    for (const { result } of uploads)
      expect(await result).toEqual({
        status: 200,
        text: '{"data":{"createNote":{"storedPictures":[1],"note":{"id":"Note:5"}}}}',
      });
    expect(await exit).toMatchObject({ code: 0, err: '' });
    expect(performance.now() - started).toBeLessThan(BY_ITSELF_MS);
  });

  test('an upload that never ends is refused at the end of SHUTDOWN_MS, and nothing of it is stored', async () => {
    const service = await controlledService();
    const program = await startProgram({ ...service.env, SHUTDOWN_MS: '600' });
    const { outgoing, result } = startRequest(program.url, headers);
    const start = `${part('operations', operations)}${part('map', '{"0":["variables.input.pictures.0.file"]}')}`;
    outgoing.write(Buffer.from(`${start}${part('0', await picturesBytes())}`, 'latin1').subarray(0, 5_000));
    const held = async () => (await fetch(`${program.url}/metrics`)).text();
    await expect.poll(held).toMatch(/^catalog_held_upload_bytes [1-9]/m);
    const exit = program.stop('SIGTERM');
    const { status, text } = await result;
    expect([status, codesIn(JSON.parse(text) as GraphQLResponse)]).toEqual([503, ['OVERLOADED']]);
    expect(await exit).toMatchObject({ code: 0, err: '' });
    expect(service.requests).toEqual([]);
  });
});

const cost = {
  catalogCost: 'calls=2, most=3, saved=0',
  rateLimit: expect.stringMatching(/^"films";r=40;t=\d+$/) as string,
};
const timedOut = expect.objectContaining({ extensions: expect.objectContaining({ code: 'UPSTREAM_TIMEOUT' }) });
/** The parts of an incremental response, in either format: one line each. */
const partsOf = (answer: string) =>
  answer.split(/\r?\n/).flatMap((line) => {
    const piece = line.replace(/^data: /, '');
    return piece.startsWith('{') ? [JSON.parse(piece) as unknown] : [];
  });

describe.each([
  ['multipart/mixed', '--'],
  ['text/event-stream', 'event: complete\ndata:'],
])('SIGTERM during an incremental response in %s', (accept, last) => {
  const query = '{ book(id: 7) { title ... @defer { summary } ... @defer { publisher } } }';
  const execute = (url: string) => {
    const requests = startRequest(url, { 'content-type': 'application/json', accept });
    requests.outgoing.end(JSON.stringify({ query }));
    return requests;
  };

  test('every part and the end are sent', async () => {
    const service = await controlledService();
    const program = await startProgram(service.env);
    const { outgoing, result } = execute(program.url);
    const first = once(outgoing, 'response');
    await service.answer('fields=id,title', 200, { id: '7', title: '活着' });
    await first; // its first part has been sent
    const started = performance.now();
    const exit = program.stop('SIGTERM');
    await refusesConnections(program.url);
    await setTimeout(300);
    await service.answer('publisher', 200, { id: '7', summary: '后来', publisher: '作家' });
    const { status, text } = await result;
    expect(partsOf(text)).toEqual([
      { data: { book: { title: '活着' } }, hasNext: true },
      {
        incremental: [
          { data: { summary: '后来' }, path: ['book'] },
          { data: { publisher: '作家' }, path: ['book'] },
        ],
        hasNext: false,
        extensions: cost,
      },
    ]);
    expect([status, text.trimEnd().endsWith(last)]).toEqual([200, true]);
    expect(await exit).toMatchObject({ code: 0, err: '' });
    expect(performance.now() - started).toBeLessThan(BY_ITSELF_MS);
  });

  test('a part that never comes is an error at the end of SHUTDOWN_MS', async () => {
    const service = await controlledService();
    const program = await startProgram({ ...service.env, SHUTDOWN_MS: '600' });
    const { outgoing, result } = execute(program.url);
    const first = once(outgoing, 'response');
    await service.answer('fields=id,title', 200, { id: '7', title: '活着' });
    await first;
    const exit = program.stop('SIGTERM');
    const { status, text } = await result;
    expect(partsOf(text)).toEqual([
      { data: { book: { title: '活着' } }, hasNext: true },
      {
        incremental: [
          { data: { summary: null }, path: ['book'], errors: [timedOut] },
          { data: { publisher: null }, path: ['book'], errors: [timedOut] },
        ],
        hasNext: false,
        extensions: cost,
      },
    ]);
    expect([status, text.trimEnd().endsWith(last)]).toEqual([200, true]);
    expect(await exit).toMatchObject({ code: 0, err: '' });
  });
});
