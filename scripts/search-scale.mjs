// Measures searches of the origin as its catalog grows: node scripts/search-scale.mjs [books ...] [--keep DIR] [--searches N]
// Each catalog is generated (once, with --keep), opened by an origin of its own and searched over HTTP on 127.0.0.1.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../build.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'string' }, searches: { type: 'string', default: '200' } },
});
const SIZES = positionals.length ? positionals.map(Number) : [1_000, 100_000, 1_000_000];
const SEARCHES = Number(values.searches);

// The words of the generated books, whose titles end in a number of their own: "漫长的图书馆 4242".
const KINDS = {
  'a number of one title': (n) => ({ q: String(700 + n) }),
  'a whole title and its number': (n) => ({ q: `漫长的图书馆 ${700 + n}` }),
  'a common word (1 of 16)': () => ({ q: '图书馆' }),
  'two common words': () => ({ q: '图书馆 远山出版社' }),
  'two that never meet': () => ({ q: '图书馆 钟表匠' }),
  'one character (1 of 4)': () => ({ q: '的' }),
  'two characters (1 of 10)': () => ({ q: '小说' }),
  'two characters and a word': () => ({ q: '小说 图书馆' }),
  'a tag': () => ({ tag: '小说' }),
  'a tag and a word': () => ({ tag: '小说', q: '图书馆' }),
  'a common word, start 900': () => ({ q: '图书馆', start: 900 }),
  'a tag, start 900': () => ({ tag: '小说', start: 900 }),
  'start 50000': () => ({ q: '的', start: 50_000 }),
  nothing: () => ({ q: '没有这样的书' }),
};

await Promise.all([bundle(), bundle('scripts/demo/grow-catalog.ts')]);
const { growCatalog } = await import('../dist/grow-catalog.js');
const home = values.keep ?? mkdtempSync(join(tmpdir(), 'catalog-search-'));
mkdirSync(home, { recursive: true });
const agent = new Agent({ keepAlive: true });
const rows = new Map(Object.keys(KINDS).map((kind) => [kind, []]));
const made = [];

for (const books of SIZES) {
  const dataDir = join(home, String(books));
  if (!existsSync(join(dataDir, 'origin.db'))) seed(dataDir, books);
  const origin = await started(dataDir);
  made.push(`${books} invented books, ${megabytes(join(dataDir, 'origin.db'))}`);
  for (const [kind, search] of Object.entries(KINDS)) {
    const times = [];
    let total;
    let worked = 0;
    for (let n = -10; n < SEARCHES; n++) {
      const query = new URLSearchParams({ ...search(n + 10), count: '20', fields: 'id,title' });
      if (n === 0) worked = cpuOf(origin.child.pid);
      const begun = performance.now();
      const response = await ask(`${origin.url}/v2/book/search?${query}`);
      if (n >= 0) times.push(performance.now() - begun); // the first ten are a warm-up
      total = response.total;
    }
    const cpu = (cpuOf(origin.child.pid) - worked) / SEARCHES;
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.floor(share * times.length)].toFixed(1);
    rows.get(kind).push(`${at(0.5)} / ${at(0.99)} / ${cpu.toFixed(1)} (${total})`);
  }
  origin.child.kill('SIGTERM');
  await once(origin.child, 'exit');
}
if (!values.keep) rmSync(home, { recursive: true });
agent.destroy();

console.log(
  `Milliseconds over HTTP, median / p99 of ${SEARCHES} / CPU of the origin for one (the reported total); ${made.join('; ')}.\n`,
);
console.log(`| search | ${SIZES.join(' | ')} |\n| --- | ${SIZES.map(() => '---').join(' | ')} |`);
for (const [kind, cells] of rows) console.log(`| ${kind} | ${cells.join(' | ')} |`);

function seed(dataDir, books) {
  const begun = performance.now();
  growCatalog({ dataDir, demoDir: fileURLToPath(new URL('../demo', import.meta.url)), books });
  console.error(`${books} books made in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
}

async function started(dataDir) {
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'error', DATA_DIR: dataDir, ORIGIN_PORT: '0' };
  const child = spawn(process.execPath, ['dist/main.js', 'origin'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  while (!/origin +\S+/.test(output)) output += String((await once(child.stdout, 'data'))[0]);
  return { child, url: /origin +(\S+)/.exec(output)[1] };
}

function ask(url) {
  return new Promise((resolve, reject) => {
    get(url, { agent }, async (response) => {
      const chunks = [];
      for await (const chunk of response) chunks.push(chunk);
      if (response.statusCode !== 200) return reject(new Error(`${url}: ${response.statusCode}`));
      resolve(JSON.parse(Buffer.concat(chunks).toString()));
    }).on('error', reject);
  });
}

/** CPU milliseconds of a process, which a busy machine does not change. Linux counts in steps of ten. */
function cpuOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

function megabytes(file) {
  return `${(statSync(file).size / 1e6).toFixed(0)} MB`;
}
