import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEachFile } from './hooks.ts';

const running = new Set<() => void>();
afterEachFile(() => {
  for (const close of running) close();
  running.clear();
});

/** How long no further call has come before one of those that wait is let through: facades and service share this process. */
const QUIET_MS = 4;

/**
 * A proxy that holds calls, and lets one after the other through in an order that a number decides, so that each number is an interleaving
 * of those that ran at once. `tokenOf`: the token that the service gets.
 */
export async function shufflingProxy(target: string, tokenOf: (token: string) => string = (token) => token) {
  const { hostname, port } = new URL(target);
  let held: { at: number; line: string; pass: () => Promise<void> }[] = [];
  const order: string[] = [];
  let isBusy = false;
  let state = 1;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): Promise<void> {
    const headers = { ...incoming.headers };
    if (headers.authorization)
      headers.authorization = `Bearer ${tokenOf(headers.authorization.replace('Bearer ', ''))}`;
    const { method, url: path } = incoming;
    await new Promise<void>((resolve) => {
      const sent = forward({ hostname, port, method, path, headers, agent: false }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing).on('close', resolve);
      });
      sent.end(body);
    });
  }
  const timer = setInterval(() => {
    const now = performance.now();
    if (isBusy || held.length === 0 || held.some(({ at }) => now - at < QUIET_MS)) return;
    const next = held[random(held.length)]!;
    held = held.filter((each) => each !== next);
    order.push(next.line);
    isBusy = true;
    void next.pass().finally(() => (isBusy = false));
  }, 1);

  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) =>
      held.push({
        at: performance.now(),
        line: `${incoming.method} by ${incoming.headers.authorization ?? 'nobody'}`,
        pass: () => pass(incoming, outgoing, body),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.add(() => {
    clearInterval(timer);
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The order of what comes next. */
    shuffle(seed: number): void {
      state = seed * 7_919 + 1;
      order.length = 0;
    },
    /** What was let through since. */
    order,
  };
}
