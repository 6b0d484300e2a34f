/**
 * A load generator: each connection sends its next request as soon as it has the response. It uses bare sockets and prepared requests,
 * to leave the two cores to the server.
 */
import { type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Measured {
  operations: number;
  seconds: number;
  /** Of each operation, in milliseconds. */
  latencies: number[];
}

/** Sends `requests` in order, repeatedly; throws if a response is not a 200 or has errors. */
export async function load(
  port: number,
  requests: readonly Buffer[],
  { connections, ms }: { connections: number; ms: number },
): Promise<Measured> {
  const opened = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + ms;
  let next = 0;
  try {
    await Promise.all(
      opened.map(async (connection) => {
        for (let now = performance.now(); now < until;) {
          const response = await connection.send(requests[next++ % requests.length]!);
          const then = performance.now();
          latencies.push(then - now);
          now = then;
          if (response.includes('"errors":'))
            throw new Error(`Errors under load: ${response.subarray(0, 500).toString()}`);
        }
      }),
    );
    return { operations: latencies.length, seconds: (performance.now() - started) / 1000, latencies };
  } finally {
    for (const connection of opened) connection.close();
  }
}

export async function ask(port: number, request: Buffer): Promise<unknown> {
  const connection = await open(port);
  try {
    return JSON.parse((await connection.send(request)).toString());
  } finally {
    connection.close();
  }
}

/** A POST of JSON, or a GET without a body. */
export function requestOf(path: string, body?: object): Buffer {
  const head = (line: string, more = '') => `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${more}\r\n`;
  if (!body) return Buffer.from(head(`GET ${path}`));
  const text = JSON.stringify(body);
  const more = `content-type: application/json\r\naccept: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
  return Buffer.from(head(`POST ${path}`, more) + text);
}

/** Waits until the port accepts connections. */
export async function listening(port: number, isGone: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (isGone()) break;
    try {
      (await open(port)).close();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`Nothing listens on port ${port}.`);
}

interface Connection {
  /** Resolves with the body of the response. */
  send: (request: Buffer) => Promise<Buffer>;
  close: () => void;
}
interface Waiting {
  resolve: (body: Buffer) => void;
  reject: (error: Error) => void;
}

const PATIENCE_MS = 20_000;

function open(port: number): Promise<Connection> {
  return new Promise((opened, failed) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let waiting: Waiting | undefined;
    let pending: Buffer = Buffer.alloc(0);
    const fail = (error: Error) => {
      failed(error);
      waiting?.reject(error);
      waiting = undefined;
      socket.destroy();
    };
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('The connection was closed.')));
    socket.setTimeout(PATIENCE_MS, () => fail(new Error('No response in time.')));
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      try {
        const body = bodyIn(pending);
        if (!body) return;
        pending = Buffer.alloc(0);
        const { resolve } = waiting!;
        waiting = undefined;
        resolve(body);
      } catch (error) {
        fail(error as Error);
      }
    });
    socket.on('connect', () =>
      opened({
        send: (request) =>
          new Promise((resolve, reject) => {
            waiting = { resolve, reject };
            socket.write(request);
          }),
        close: () => socket.destroy(),
      }),
    );
  });
}

/** The body of a complete response; undefined if more is to come. */
function bodyIn(bytes: Buffer): Buffer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end).toLowerCase();
  const body = end + 4;
  if (!head.startsWith('http/1.1 200')) throw new Error(`Rejected: ${bytes.toString('utf8', 0, 1000)}`);
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    const total = body + Number(length);
    return bytes.length >= total ? bytes.subarray(body, total) : undefined;
  }
  return bytes.subarray(-lastChunk.length).equals(lastChunk) ? dechunked(bytes.subarray(body)) : undefined;
}

const lastChunk = Buffer.from('\r\n0\r\n\r\n');

function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    const size = parseInt(bytes.toString('latin1', at, line), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
