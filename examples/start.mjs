// Runs an example beside the facade and the origin: node start.mjs <name>. With CATALOG_URL and ORIGIN_URL it uses those that run.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const name = process.argv[2];
const here = import.meta.dirname;
const root = dirname(here);
const run = (...args) => execFileSync(args[0], args.slice(1), { cwd: root, stdio: 'inherit' });

if (!existsSync(join(root, 'node_modules'))) run('npm', 'ci');
run('node', 'scripts/install.mjs', `examples/${name}`);
if (process.env.CATALOG_URL === undefined) {
  run('node', 'build.mjs', 'client', 'src/main.ts');
  Object.assign(process.env, await startCatalog());
}
execFileSync('npm', ['run', '--silent', 'build'], { cwd: join(here, name), stdio: 'inherit' });

// Built, not in development mode: a service worker needs files, and the bytes are those of a real page.
const { preview } = await import(join(here, name, 'node_modules/vite/dist/node/index.js'));
const port = await portOr(Number(process.env.APP_PORT ?? 5173));
const app = await preview({ root: join(here, name), preview: { port, host: '127.0.0.1' }, logLevel: 'warn' });
console.log(`app     http://127.0.0.1:${app.httpServer.address().port}`);
console.log(`graph   ${process.env.CATALOG_URL}/graphql`);
console.log(`origin  ${process.env.ORIGIN_URL}`);

/** The program with the demo data and the trusted documents of the client package; it ends with this process. */
async function startCatalog() {
  const { nodeFlags } = await import('../build.mjs');
  const [port, originPort] = [await portOr(4000), await portOr(4001)];
  const env = {
    ...process.env,
    PORT: String(port),
    ORIGIN_PORT: String(originPort),
    DATA_DIR: join(here, '.catalog'),
    PERSISTED_OPERATIONS: join(root, 'client/manifest.json'),
  };
  const program = spawn(process.execPath, [...nodeFlags, join(root, 'dist/main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());
  process.once('exit', () => program.kill());
  const [CATALOG_URL, ORIGIN_URL] = [port, originPort].map((each) => `http://127.0.0.1:${each}`);
  const isUp = () =>
    fetch(`${CATALOG_URL}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (program.exitCode !== null) throw new Error(`The facade ended with ${program.exitCode}.`);
    await sleep(100);
  }
  return { CATALOG_URL, ORIGIN_URL };
}

/** The port if it is free, otherwise another that is. */
function portOr(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(portOr(0)));
    probe.listen(port, '127.0.0.1', () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
}
