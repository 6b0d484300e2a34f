import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { made } from '../support/made.ts';
import { authorization, temporaryDirectory } from '../support/service.ts';

/** Starts the origin as its own process; no file of it may grow beyond this number of kB. */
async function start(dataDir: string, kilobytes?: number): Promise<{ url: string; child: ChildProcess }> {
  const program = await made('program');
  const limit = kilobytes === undefined ? '' : `ulimit -f ${kilobytes}; `;
  const child = spawn('bash', ['-c', `${limit}exec "${process.execPath}" "${program}" origin`], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ORIGIN_PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  while (!/origin +http\S+/.test(output)) output += String((await once(child.stdout, 'data'))[0]);
  return { url: /origin +(\S+)/.exec(output)?.[1] ?? '', child };
}

async function stop({ child }: { child: ChildProcess }): Promise<unknown> {
  child.kill('SIGTERM');
  return (await once(child, 'exit'))[0];
}

test(
  'on a full disk writes are reported as not made, reads succeed, and acknowledged writes are kept completely',
  { timeout: 600_000 },
  async () => {
    const dataDir = temporaryDirectory();
    await stop(await start(dataDir));
    const file = join(dataDir, 'origin.db');

    const full = await start(dataDir, Math.ceil(statSync(file).size / 1024) + 200);
    const content = '满'.repeat(20_000);
    const acknowledged: string[] = [];
    let rejected = 0;
    for (let n = 0; n < 400 && rejected < 3; n++) {
      const response = await fetch(`${full.url}/v2/notes`, {
        method: 'POST',
        headers: authorization('alice'),
        body: new URLSearchParams({ title: `n${n}`, content }),
      });
      const body = (await response.json()) as { id?: string; code?: number };
      if (response.status < 300) acknowledged.push(String(body.id));
      else {
        expect([response.status, body.code]).toEqual([503, 6009]);
        rejected++;
      }
    }
    expect(rejected).toBe(3);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect((await fetch(`${full.url}/v2/book/6082808`)).status).toBe(200);
    await stop(full);

    const db = openSqlite(file);
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    db.close();
    const roomy = await start(dataDir);
    for (const id of acknowledged) {
      const note = (await (await fetch(`${roomy.url}/v2/note/${id}`, { headers: authorization('alice') })).json()) as {
        content: string;
      };
      expect(note.content).toContain(content.slice(0, 100));
    }
    expect(await stop(roomy)).toBe(0);
  },
);
