// Runs the first command of the README on a fresh clone, with no compiler on the PATH: node .ci/smoke.mjs <folder with node>...
// It must install under the first of them without a warning, and under each start without one and answer a query.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const nodeFolders = process.argv.slice(2);
const root = dirname(import.meta.dirname);
const place = mkdtempSync(join(tmpdir(), 'catalog-smoke-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

const bin = join(place, 'bin');
mkdirSync(bin);
for (const name of ['sh', 'bash', 'env', 'npm']) symlinkSync(realpathSync(which(name)), join(bin, name));
const { PATH, NODE_OPTIONS, ...outside } = process.env;
const envOf = (nodeFolder) => ({
  ...outside,
  PATH: [nodeFolder, bin].join(delimiter),
  PORT: '0',
  ORIGIN_PORT: '0',
  npm_config_loglevel: 'warn',
});
const env = envOf(nodeFolders[0]);
for (const name of ['g++', 'c++', 'gcc', 'cc', 'clang', 'make', 'python3', 'python'])
  if (spawnSync('sh', ['-c', `command -v ${name}`], { env }).status === 0) throw new Error(`${name} is on the PATH`);

const clone = join(place, 'clone');
execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
const begun = Date.now();
const installed = spawnSync('npm', ['ci'], { cwd: clone, env, encoding: 'utf8' });
const seconds = ((Date.now() - begun) / 1_000).toFixed(0);
if (installed.status !== 0) throw new Error(`npm ci failed: ${installed.stderr}`);
expectQuiet('npm ci', installed.stderr);

for (const folder of nodeFolders) await start(envOf(folder));
const size = execFileSync('du', ['-sm', join(clone, 'node_modules')], { encoding: 'utf8' }).split('\t')[0];
console.log(
  `node_modules of ${size} MB in ${seconds} s; it starts and responds under ${nodeFolders.length} releases of Node, and nothing was compiled`,
);

async function start(env) {
  const program = spawn('npm', ['start'], { cwd: clone, env, detached: true });
  let out = '';
  let err = '';
  program.stdout.on('data', (chunk) => (out += chunk));
  program.stderr.on('data', (chunk) => (err += chunk));
  const ended = once(program, 'close');
  const url = await new Promise((resolve, reject) => {
    program.stdout.on('data', () => /"graph":"([^"]+)"/.test(out) && resolve(/"graph":"([^"]+)"/.exec(out)[1]));
    program.once('close', (code) => reject(new Error(`npm start ended with ${code}: ${err}`)));
  });
  const answer = await (await fetch(`${url}?query={book(id:"6082808"){title}}`)).text();
  process.kill(-program.pid, 'SIGTERM');
  await ended;
  if (answer !== '{"data":{"book":{"title":"百年孤独"}}}') throw new Error(`the response is wrong: ${answer}`);
  expectQuiet('npm start', err);
}

function which(name) {
  return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
}

/** Ignores what npm prints about the settings of this machine, and log lines at info, and the line of the build. */
function expectQuiet(command, output) {
  const lines = output
    .split('\n')
    .filter(
      (line) =>
        line &&
        !/^npm (warn|notice) (Unknown|using)|^npm notice|^{"level":"info",|^building \(only after a change\): /i.test(
          line,
        ),
    );
  if (lines.length > 0) throw new Error(`${command} warned:\n${lines.join('\n')}`);
}
