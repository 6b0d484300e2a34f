import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { freePort } from './redis.ts';

/** Starts nginx with `deploy/nginx.conf` in front of two facades, until the test ends. Returns its address. */
export async function startNginx(facades: readonly [string, string]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-nginx-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const [first, second] = facades.map((url) => new URL(url).host.replace('localhost', '127.0.0.1')) as [string, string];
  const config = readFileSync('deploy/nginx.conf', 'utf8')
    .replace('facade-1:4000', first)
    .replace('facade-2:4000', second)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace(
      'http {',
      `pid ${folder}/pid;\nhttp {\naccess_log off;\nclient_body_temp_path ${folder};\nproxy_temp_path ${folder};`,
    );
  writeFileSync(join(folder, 'nginx.conf'), config);
  const args = ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', 'stderr', '-g', 'daemon off;'];
  const nginx = spawn('nginx', args, {
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  nginx.stderr.on('data', (chunk) => (output += String(chunk)));
  onTestFinished(async () => {
    if (nginx.exitCode === null) {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
  });
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(`${url}/ready`).then(
      ({ status }) => status,
      () => `nginx: ${output}`,
    );
  await expect.poll(ready).toBe(200);
  return url;
}
