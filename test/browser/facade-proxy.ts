import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request as forward,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request that an app sent to the facade, and the headers of its response once there is one. */
export interface SeenRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  answered?: IncomingHttpHeaders;
}
/**
 * What becomes of a request: the JSON that is sent, or `cut`, which closes its connection, or `part`, the first part of the
 * response alone.
 * `answer` has the facade answer it, and returns its JSON. `pass` lets it through as it is.
 */
export type Rule = (request: SeenRequest, answer: () => Promise<object>) => Promise<object | 'cut' | 'part' | 'pass'>;

async function firstPart(response: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const [, name] = /boundary="(.+?)"/.exec(response.headers['content-type']!)!;
  const boundary = `\r\n--${name}\r\n`;
  outgoing.writeHead(response.statusCode!, response.headers);
  let text = '';
  for await (const chunk of response) {
    text += (chunk as Buffer).toString('latin1');
    const end = text.indexOf(boundary, boundary.length);
    if (end < 0) continue;
    return void outgoing.end(text.slice(0, end + boundary.length), 'latin1');
  }
}

/**
 * A proxy between the apps and the facade. A test sees each request, and changes what becomes of it.
 * The interception of the browser misses some requests of a page that has a service worker: another process makes them.
 */
export async function proxyTo(target: string) {
  const { hostname, port } = new URL(target);
  const requests: SeenRequest[] = [];
  let rule: Rule | undefined;

  async function send(request: SeenRequest, headers: IncomingHttpHeaders): Promise<IncomingMessage> {
    const sent = forward({ hostname, port, method: request.method, path: request.url, headers, agent: false });
    sent.end(request.body, 'latin1');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    request.answered = answer.headers;
    return answer;
  }

  const server = createServer((incoming, outgoing) => {
    const handle = async () => {
      // As latin1, so that the bytes of a form with a file stay what they are.
      const body = (await buffer(incoming)).toString('latin1');
      const request: SeenRequest = { method: incoming.method!, url: incoming.url!, headers: incoming.headers, body };
      requests.push(request);
      // Whole: what the browser has kept is not confirmed to it.
      const { 'if-none-match': _, ...headers } = incoming.headers;
      const plain = { ...headers, 'accept-encoding': 'identity', accept: 'application/json' };
      const answer = async () => JSON.parse((await buffer(await send(request, plain))).toString('utf8')) as object;
      const outcome = rule ? await rule(request, answer) : 'pass';
      if (outcome === 'cut') return void incoming.socket.destroy();
      if (outcome === 'part') {
        const identity = { ...incoming.headers, 'accept-encoding': 'identity' };
        return void (await firstPart(await send(request, identity), outgoing));
      }
      if (outcome !== 'pass')
        return void outgoing
          .writeHead(200, { 'content-type': 'application/json', date: new Date().toUTCString() })
          .end(JSON.stringify(outcome));
      const response = await send(request, incoming.headers);
      outgoing.writeHead(response.statusCode!, response.headers);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    };
    handle().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Every request, the oldest first. */
    requests,
    /** From now on each request becomes what the rule says. */
    changeBy: (next: Rule) => (rule = next),
    /** From now on each request passes. */
    pass: () => (rule = undefined),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
