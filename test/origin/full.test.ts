import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/origin/store/sqlite.ts';
import { authorization, temporaryDirectory } from '../support/service.ts';

/** The origin as its own program; no file of it may grow past this many kB. */
async function started(dataDir: string, kilobytes?: number): Promise<{ url: string; child: ChildProcess }> {
  const limit = kilobytes === undefined ? '' : `ulimit -f ${kilobytes}; `;
  const child = spawn('bash', ['-c', `${limit}exec "${process.execPath}" dist/main.js origin`], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ORIGIN_PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  while (!/origin +http\S+/.test(said)) said += String((await once(child.stdout, 'data'))[0]);
  return { url: /origin +(\S+)/.exec(said)?.[1] ?? '', child };
}

async function stopped({ child }: { child: ChildProcess }): Promise<unknown> {
  child.kill('SIGTERM');
  return (await once(child, 'exit'))[0];
}

test(
  'a disk that is full is told as a fault, reads go on, and nothing that was acknowledged is lost or half',
  { timeout: 600_000 },
  async () => {
    const dataDir = temporaryDirectory();
    await stopped(await started(dataDir));
    const file = join(dataDir, 'origin.db');

    const full = await started(dataDir, Math.ceil(statSync(file).size / 1024) + 200);
    const content = '满'.repeat(20_000);
    const kept: string[] = [];
    let refused = 0;
    for (let n = 0; n < 400 && refused < 3; n++) {
      const answer = await fetch(`${full.url}/v2/notes`, {
        method: 'POST',
        headers: authorization('alice'),
        body: new URLSearchParams({ title: `n${n}`, content }),
      });
      const body = (await answer.json()) as { id?: string; code?: number };
      if (answer.status < 300) kept.push(String(body.id));
      else {
        expect([answer.status, body.code]).toEqual([500, 6009]);
        refused++;
      }
    }
    expect(refused).toBe(3);
    expect(kept.length).toBeGreaterThan(0);
    expect((await fetch(`${full.url}/v2/book/6082808`)).status).toBe(200);
    await stopped(full);

    const db = openSqlite(file);
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    db.close();
    const roomy = await started(dataDir);
    for (const id of kept) {
      const note = (await (await fetch(`${roomy.url}/v2/note/${id}`, { headers: authorization('alice') })).json()) as {
        content: string;
      };
      expect(note.content).toContain(content.slice(0, 100));
    }
    expect(await stopped(roomy)).toBe(0);
  },
);
