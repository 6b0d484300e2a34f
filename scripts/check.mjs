/** Runs every part of the check, two at a time, also after one has failed, and says at the end which failed. */
import { spawn } from 'node:child_process';

const parts = {
  lint: 'npm run -s lint',
  types: 'npm run -s types',
  formatting: 'npx prettier --check --log-level warn .',
  'generated files': 'npm run -s codegen -- --check',
  structure: 'node scripts/structure.mjs',
  figures: 'node scripts/figures.mjs',
  words: 'node scripts/words.mjs',
  'path of queries': 'node build.mjs src/main.ts && node scripts/query-path.mjs',
};
const AT_ONCE = 2;

const failed = [];
const waiting = Object.entries(parts);
await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
if (failed.length > 0) {
  console.error(`== failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

async function runInTurn() {
  for (let part = waiting.shift(); part; part = waiting.shift()) {
    const [name, command] = part;
    const { status, output } = await run(command);
    console.log(`== ${name}\n${output}`);
    if (status !== 0) failed.push(name);
  }
}

/** The output of a part is printed as a whole, when the part has ended. */
function run(command) {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, output })));
}
