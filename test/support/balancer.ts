import { createServer, request as forward } from 'node:http';
import { listen } from './listen.ts';

/** A proxy that sends each request to the next of the servers. */
export async function roundRobin(urls: readonly string[]) {
  const served = urls.map(() => 0);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const index = turn++ % urls.length;
    served[index]!++;
    const { hostname, port } = new URL(urls[index]!);
    const { method, url, headers } = incoming;
    const forwarded = forward({ hostname, port, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return {
    url: await listen(server),
    /** The number of requests to each server. */
    served,
  };
}
