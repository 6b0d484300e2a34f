import { type AddressInfo, type Socket, createServer } from 'node:net';
import { afterUse } from './hooks.ts';

/** A request as the service received it. */
export interface ReceivedRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  /** The number of requests before it, over all connections. */
  nth: number;
}

/** What a service does with a request: anything that can be done with a socket. */
export type Behaviour = (socket: Socket, request: ReceivedRequest) => unknown;

/** A service on a raw socket, so that it can send what no HTTP library would. */
export async function hostile(behaviour: Behaviour = json('{}')) {
  const sockets = new Set<Socket>();
  const requests: ReceivedRequest[] = [];
  let current = behaviour;
  let connections = 0;

  // Head and body are two writes: without noDelay, Linux holds the second back for 40 ms.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    connections++;
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let buffered = '';
    let bodyLength = 0;
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (;;) {
        if (bodyLength > 0) {
          if (buffered.length < bodyLength) return;
          buffered = buffered.slice(bodyLength);
          bodyLength = 0;
        }
        const end = buffered.indexOf('\r\n\r\n');
        if (end === -1) return;
        const request = parse(buffered.slice(0, end), requests.length);
        buffered = buffered.slice(end + 4);
        bodyLength = Number(request.headers['content-length'] ?? 0);
        requests.push(request);
        current(socket, request);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  afterUse(close);

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    /** The number of open connections. */
    open: () => sockets.size,
    /** The number of connections ever accepted. */
    connections: () => connections,
    /** The number of closed connections. */
    ended: () => connections - sockets.size,
    behave: (next: Behaviour) => {
      current = next;
    },
    /** Closes all connections. */
    hangUp: () => {
      for (const socket of sockets) socket.destroy();
    },
    close,
  };
}

function parse(head: string, nth: number): ReceivedRequest {
  const [line = '', ...rest] = head.split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const headers = Object.fromEntries(
    rest.map((header) => [
      header.slice(0, header.indexOf(':')).toLowerCase(),
      header.slice(header.indexOf(':') + 1).trim(),
    ]),
  );
  return { method, path, headers, nth };
}

/** A complete response with Content-Length. */
export const response =
  (status: number, type: string, body: string | Buffer, headers: Record<string, string> = {}): Behaviour =>
  (socket) => {
    const lines = Object.entries({
      'content-type': type,
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    });
    socket.write(`HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    socket.write(body);
  };

export const json = (body: string, status = 200, headers: Record<string, string> = {}) =>
  response(status, 'application/json; charset=utf-8', body, headers);

/** The requested record, with the title x. */
export const titledX: Behaviour = (socket, request) =>
  json(JSON.stringify({ id: /[^/?]+(?=\?|$)/.exec(request.path)![0], title: 'x' }))(socket, request);

export const xml = (body: string | Buffer) => response(200, 'application/atom+xml; charset=utf-8', body);

export const reset: Behaviour = (socket) => socket.resetAndDestroy();

/** Sends nothing, and keeps the connection open. */
export const silence: Behaviour = () => undefined;

/** Sends less than Content-Length, then resets the connection. */
export const cutInBody: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"id":');
  setTimeout(() => socket.resetAndDestroy(), 5);
};

/** Sends `start`, then `piece` repeatedly without end. */
export const drip =
  (start: string, piece: string, everyMs = 10): Behaviour =>
  (socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

/** One behaviour per request; the last one is repeated. */
export const inTurn = (...behaviours: Behaviour[]): Behaviour => {
  let turn = 0;
  return (socket, request) => behaviours[Math.min(turn++, behaviours.length - 1)]?.(socket, request);
};

/** Waits for a condition. The limit counts checks, not time, because a machine may stall. */
export async function until(what: () => boolean): Promise<void> {
  for (let looks = 0; !what(); looks++) {
    if (looks === 10_000) throw new Error(`It did not become so: ${what.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
