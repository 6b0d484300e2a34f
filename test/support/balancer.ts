import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** Sends each request to the next of the servers, whoever asks. */
export async function roundRobin(urls: readonly string[]) {
  const served = urls.map(() => 0);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const place = turn++ % urls.length;
    served[place]!++;
    const { hostname, port } = new URL(urls[place]!);
    const { method, url, headers } = incoming;
    const onward = forward({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many requests each has had. */
    served,
  };
}
