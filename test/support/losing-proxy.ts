import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { afterEachFile } from './hooks.ts';

/**
 * What happens to a write on its way.
 * - `dropped`    the connection is cut before the service gets it
 * - `lost`       the service carries it out, and the connection is cut
 * - `cut`        the same, after so many bytes of the response
 * - `gateway`    a 502 in place of the response; `isSent`: after the service carried it out
 * - `late`       the response comes after `ms`
 * - `slow`       the service carries it out after `beforeMs`, whatever its connection does, and responds after `afterMs`
 * - `refused`    a response of the service, which does not carry it out
 */
export type Fault =
  | { kind: 'dropped' }
  | { kind: 'lost' }
  | { kind: 'cut'; at: number }
  | { kind: 'gateway'; isSent: boolean }
  | { kind: 'late'; ms: number }
  | { kind: 'slow'; beforeMs: number; afterMs: number }
  | { kind: 'refused'; status: number; body: object };

/** A request on its way; `sent` is the body of a write. */
export interface PassingRequest {
  method: string;
  line: string;
  token: string;
  sent: string;
}

/** A write that reached the service. */
export interface ReachedWrite {
  line: string;
  status: number;
  /** Of the request; of a form with files, its beginning. */
  body: string;
  /** How long its connection may have been closed when the service carried it out: this process may have learned it late. */
  afterCloseMs: number;
}

/** How far a write is. */
export type Step = 'arrived' | 'carriedOut' | 'answered';

interface Watch {
  /** The token for the service. */
  tokenOf?: (token: string) => string;
  /** May change the path of a read, reject it with `undefined`, and change its response. */
  onRead?: (request: PassingRequest) => { path: string; change?: (body: string) => string } | undefined;
  /** Called before the step is made. `status`: of the response, once there is one. */
  onStep?: (step: Step, request: PassingRequest, status?: number) => void;
}

const BODY_MAX = 2_000;

const running = new Set<() => void>();
afterEachFile(() => {
  for (const close of running) close();
  running.clear();
});

/** A proxy in front of a service that loses what `faultOf` says. Reads pass. */
export async function losingProxy(
  target: string,
  faultOf: (line: string, request: PassingRequest) => Fault | undefined,
  watch: Watch = {},
) {
  const reached: ReachedWrite[] = [];
  const lines: string[] = [];
  const { hostname, port } = new URL(target);
  const { tokenOf = (token) => token, onRead, onStep } = watch;
  let next = faultOf;

  async function pass(incoming: IncomingMessage, path: string, body: Buffer): Promise<Answer> {
    const headers = { ...incoming.headers };
    if (headers.authorization !== undefined) headers.authorization = `Bearer ${tokenOf(tokenIn(incoming))}`;
    if (onRead) delete headers['accept-encoding'];
    const sent = forward({ hostname, port, method: incoming.method, path, headers, agent: false });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  }

  async function read(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { url: path = '' } = incoming;
    const request = { method: 'GET', line: `GET ${path}`, token: tokenIn(incoming), sent: '' };
    const changed = onRead ? onRead(request) : { path };
    if (!changed) return void outgoing.writeHead(500).end();
    const answer = await pass(incoming, changed.path, Buffer.alloc(0));
    if (!('change' in changed) || !changed.change) return respond(answer, outgoing);
    const body = Buffer.from(changed.change(answer.body.toString('utf8')));
    respond({ ...answer, headers: { ...answer.headers, 'content-length': String(body.length) }, body }, outgoing);
  }

  async function write(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = incoming;
    const line = `${method} ${path}`;
    let closedAt: number | undefined;
    outgoing.on('close', () => (closedAt = performance.now()));
    // A stall may have ended just before this.
    const arrivedAt = performance.now() - 10 * TICK_MS;
    const body = await buffer(incoming);
    const request = { method, line, token: tokenIn(incoming), sent: body.toString('latin1', 0, BODY_MAX) };
    onStep?.('arrived', request);
    const fault = next(line, request);
    if (fault?.kind === 'dropped') return void incoming.socket.destroy();
    if (fault?.kind === 'gateway' && !fault.isSent) return sendGateway(outgoing);
    if (fault?.kind === 'refused')
      return void outgoing
        .writeHead(fault.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(fault.body));
    if (fault?.kind === 'slow') await sleep(fault.beforeMs);
    const answer = await pass(incoming, path, body);
    const afterCloseMs = closedAt === undefined ? 0 : performance.now() - closedAt + delays.longestSince(arrivedAt);
    reached.push({ line, status: answer.status, body: request.sent, afterCloseMs });
    onStep?.('carriedOut', request, answer.status);
    if (fault?.kind === 'slow') await sleep(fault.afterMs);
    if (fault?.kind === 'late') await sleep(fault.ms, undefined, { ref: false });
    onStep?.('answered', request);
    if (fault?.kind === 'lost') outgoing.socket?.destroy();
    else if (fault?.kind === 'gateway') sendGateway(outgoing);
    else if (fault?.kind === 'cut') cut(answer, fault.at, outgoing);
    else respond(answer, outgoing);
  }

  const delays = watchDelays();
  const server = createServer((incoming, outgoing) => {
    lines.push(`${incoming.method} ${incoming.url}`);
    const done = incoming.method === 'GET' ? read(incoming, outgoing) : write(incoming, outgoing);
    done.catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    delays.stop();
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

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

const tokenIn = ({ headers }: IncomingMessage): string => (headers.authorization ?? '').replace('Bearer ', '');

const respond = ({ status, headers, body }: Answer, outgoing: ServerResponse): void =>
  void outgoing.writeHead(status, headers).end(body);

function cut({ status, headers, body }: Answer, at: number, outgoing: ServerResponse): void {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const whole = Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${head.join('')}\r\n`), body]);
  outgoing.socket?.write(whole.subarray(0, Math.min(at, whole.length - 1)), () => outgoing.socket?.destroy());
}

const sendGateway = (outgoing: ServerResponse): void =>
  void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');

const TICK_MS = 20;
/** How long this process was kept from its work. */
function watchDelays() {
  const stalls: { endedAt: number; ms: number }[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const ms = performance.now() - last - TICK_MS;
    last += TICK_MS + ms;
    if (ms > TICK_MS) stalls.push({ endedAt: last, ms });
  }, TICK_MS).unref();
  return {
    longestSince: (time: number): number =>
      stalls.reduce((longest, { endedAt, ms }) => (endedAt < time ? longest : Math.max(longest, ms)), 0),
    stop: () => clearInterval(timer),
  };
}
