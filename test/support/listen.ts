import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterUse } from './hooks.ts';

/** Starts the server on a free port and closes it after the tests; returns its address. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterUse(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
