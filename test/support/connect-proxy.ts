import { type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterUse } from './hooks.ts';

/** An answer to CONNECT: the end of the connection. */
export const HANG_UP = 'hang up';

/** A proxy that opens tunnels by CONNECT, and keeps all bytes that it sees. */
export async function connectProxy(user?: string) {
  const tunnels: string[] = [];
  const heads: string[] = [];
  const seen: Buffer[] = [];
  const sockets = new Set<Socket>();
  let reply: string | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let head = '';
    const onData = (chunk: Buffer) => {
      seen.push(chunk);
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.off('data', onData);
      heads.push(head);
      const target = /^CONNECT (\S+) HTTP/.exec(head)?.[1];
      if (reply === '') return; // never answers
      if (reply === HANG_UP) return socket.destroy();
      if (reply !== undefined) return socket.end(`HTTP/1.1 ${reply}\r\ncontent-length: 0\r\n\r\n`);
      const expected = user && `Basic ${Buffer.from(user).toString('base64')}`;
      if (expected && !head.includes(expected)) return socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n');
      if (target === undefined) return socket.end('HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n');
      tunnels.push(target);
      const port = Number(/:(\d+)$/.exec(target)?.[1]);
      const upstream = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      sockets.add(upstream);
      upstream.on('error', () => socket.destroy());
      upstream.pipe(socket);
      socket.on('data', (bytes: Buffer) => {
        seen.push(bytes);
        upstream.write(bytes);
      });
      socket.on('close', () => upstream.destroy());
    };
    socket.on('data', onData);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  afterUse(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port,
    /** The targets of tunnels. */
    tunnels,
    heads,
    /** All that it saw, as text. */
    seen: () => Buffer.concat(seen).toString('latin1'),
    connections: () => sockets.size,
    /** Answers all requests so; '' never answers. */
    answer: (status: string | undefined) => void (reply = status),
  };
}
