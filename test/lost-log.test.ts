import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { made } from './support/made.ts';
import { temporaryDirectory } from './support/service.ts';

/** A facade that logs each request, over a service that is away. */
const settings = {
  PATH: process.env.PATH,
  PORT: '0',
  BASE_URL: 'http://127.0.0.1:9',
  EVENT_BASE_URL: 'http://127.0.0.1:9',
  LOG_LEVEL: 'info',
  REQUEST_LOG: 'all',
};

async function startFacade(stderr: 'pipe' | number) {
  const stdio: StdioOptions = ['ignore', 'pipe', stderr];
  const child = spawn(process.execPath, [await made('program')], { env: settings, stdio });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => ({ code, signal }));
  const [banner] = (await once(child.stdout!, 'data')) as [Buffer];
  const url = /"graph":"([^"]+)\/graphql"/.exec(banner.toString())![1]!;
  const ask = async (query: string) =>
    (
      await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
    ).json();
  const lost = async () =>
    Number(/^catalog_log_lines_lost_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
  return { child, ended, ask, lost };
}

test.skipIf(!existsSync('/dev/full'))('a full disk under the log costs its lines, and no request', async () => {
  const { child, ended, ask, lost } = await startFacade(openSync('/dev/full', 'w'));
  for (let round = 0; round < 3; round++) {
    expect(await ask('{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    await setTimeout(700); // longer than an exit waits for the log
  }
  expect(await lost()).toBeGreaterThanOrEqual(3);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, signal: null });
});

test('a reader of the log that is stuck holds up neither requests nor the end, and what waits for it is bounded', async () => {
  const { child, ended, ask, lost } = await startFacade('pipe'); // nobody reads it
  const name = 'A'.repeat(100);
  for (let round = 0; round < 150; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`query ${name} { __typename }`)));
    for (const answer of answers) expect(answer).toEqual({ data: { __typename: 'Query' } });
  }
  expect(await lost()).toBeGreaterThan(0);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, signal: null });
});

test('a reader that goes away and comes back misses lines, and no others', async () => {
  const { child, ended, ask, lost } = await startFacade('pipe');
  const stderr = child.stderr as Readable;
  stderr.destroy();
  expect(await ask('{ __typename }')).toEqual({ data: { __typename: 'Query' } });
  while ((await lost()) === 0) await setTimeout(20);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, signal: null });
});

test('a log that cannot be written does not end the program that embeds a facade', async () => {
  const file = join(temporaryDirectory(), 'host.mjs');
  writeFileSync(
    file,
    `const { createFacade } = await import(${JSON.stringify(pathToFileURL(await made('facade')).href)});
     const away = 'http://127.0.0.1:9';
     const logs = [undefined, () => { throw new Error('no'); }, async () => { throw new Error('no'); }];
     await new Promise((resolve) => setTimeout(resolve, 200));
     for (const onLog of logs) {
       const facade = createFacade({ baseUrl: away, eventBaseUrl: away, requestLog: 'all', logLevel: 'info', onLog });
       for (let round = 0; round < 2; round++) {
         process.stdout.write(JSON.stringify(await facade.execute({ query: '{ __typename }' })));
         await new Promise((resolve) => setTimeout(resolve, 50));
       }
       await facade.close();
     }`,
  );
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.destroy();
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(out.match(/"__typename":"Query"/g)).toHaveLength(6);
});
