import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEachFile } from './after-file.ts';

/**
 * What happens to a write on its way.
 * - `dropped`    the connection is cut before the service gets it
 * - `lost`       the service carries it out, and the connection is cut
 * - `cut`        the same, after so many bytes of the response
 * - `gateway`    a 502 in place of the response; `isSent`: after the service carried it out
 * - `late`       the response comes after `ms`
 */
export type Fault =
  | { kind: 'dropped' }
  | { kind: 'lost' }
  | { kind: 'cut'; at: number }
  | { kind: 'gateway'; isSent: boolean }
  | { kind: 'late'; ms: number };

/** A write that reached the service. */
export interface ReachedWrite {
  line: string;
  status: number;
  /** Of the request; of a form with files, its beginning. */
  body: string;
}

const BODY_MAX = 2_000;

const running = new Set<() => void>();
afterEachFile(() => {
  for (const close of running) close();
  running.clear();
});

/** A proxy in front of a service that loses what `faultOf` says. Reads pass. */
export async function losingProxy(target: string, faultOf: (line: string) => Fault | undefined) {
  const reached: ReachedWrite[] = [];
  const lines: string[] = [];
  const { hostname, port } = new URL(target);
  let next = faultOf;

  function onRequest(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = 'GET', url = '', headers } = incoming;
    const line = `${method} ${url}`;
    lines.push(line);
    const fault = method === 'GET' ? undefined : next(line);
    if (fault?.kind === 'dropped') return void incoming.socket.destroy();
    if (fault?.kind === 'gateway' && !fault.isSent) {
      incoming.resume();
      return void incoming.once('end', () => sendGateway(outgoing));
    }
    let sent = '';
    incoming.on('data', (chunk: Buffer) => (sent = (sent + chunk.toString('latin1')).slice(0, BODY_MAX)));
    const forwarded = forward({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        if (method !== 'GET') reached.push({ line, status, body: sent });
        respond(fault, answer, Buffer.concat(chunks), outgoing);
      });
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  }

  const server = createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  running.add(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Writes that the service answered. */
    reached,
    /** Every request. */
    lines,
    lose: (faults: typeof faultOf) => {
      next = faults;
    },
  };
}

function respond(fault: Fault | undefined, answer: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
  const send = () => outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
  switch (fault?.kind) {
    case undefined:
    case 'dropped':
      return void send();
    case 'lost':
      return void outgoing.socket?.destroy();
    case 'late':
      return void setTimeout(send, fault.ms).unref();
    case 'gateway':
      return sendGateway(outgoing);
    case 'cut': {
      const head = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      const text = `HTTP/1.1 ${answer.statusCode} X\r\n${head.join('')}\r\n`;
      const whole = Buffer.concat([Buffer.from(text), body]);
      return void outgoing.socket?.write(whole.subarray(0, Math.min(fault.at, whole.length - 1)), () =>
        outgoing.socket?.destroy(),
      );
    }
  }
}

const sendGateway = (outgoing: ServerResponse): void =>
  void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
