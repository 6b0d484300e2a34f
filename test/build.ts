import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFolder } from './support/data-folder.ts';
import type { Made } from './support/made.ts';
import { skippedLine } from './support/optional.ts';

const inRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const folder = mkdtempSync(join(dataFolder(), 'tests-'));
const building = () => import('../build.mjs');

/** Each returns the file or folder that it has made. An up-to-date one is not made again, but for the demo data. */
const makers: Record<Made, () => Promise<string>> = {
  program: async () => {
    await (await building()).buildProgram();
    return inRoot('dist/main.js');
  },
  facade: async () => {
    await (await building()).bundle('src/facade.ts');
    return inRoot('dist/facade.js');
  },
  graphiql: async () => {
    await (await building()).publishGraphiql();
    return inRoot('dist/graphiql');
  },
  docs: async () => {
    await (await building()).publishDocs();
    return inRoot('dist/docs');
  },
  operations: async () => {
    await (await building()).publishOperations();
    return inRoot('dist/operations.js');
  },
  client: async () => {
    await (await building()).publishClient();
    return inRoot('client/dist');
  },
  demo: async () => {
    const { openOrigin } = await import('../src/origin/server.ts');
    const demoDir = inRoot('demo');
    const dataDir = join(folder, 'demo');
    await (await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true })).close();
    return dataDir;
  },
};

/** Makes for all workers what a test asks for (`made` of support/made.ts), once. A run of tests that ask for nothing makes nothing. */
export async function setup(): Promise<() => Promise<void>> {
  const skipped = skippedLine();
  if (skipped) console.log(skipped);
  const begun = new Map<string, Promise<string>>();
  // One after another: some write to the same folder.
  let last: Promise<unknown> = Promise.resolve();
  const make = (name: Made): Promise<string> => {
    const result = last.then(makers[name]);
    last = result.catch(() => undefined);
    begun.set(name, result);
    return result;
  };
  const server = createServer((request, response) => {
    const name = request.url!.slice(1) as Made;
    (begun.get(name) ?? make(name)).then(
      (path) => response.end(path),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.env.TEST_DATA = folder;
  process.env.TEST_MAKER = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    await new Promise((resolve) => server.close(resolve));
    await last;
    rmSync(folder, { recursive: true, force: true });
  };
}
