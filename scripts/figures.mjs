/**
 * What a reader of one part must hold: its lines, the files that a program loads with it, and what the widest files import. None may grow:
 * a bound rises only where another falls by as much, or for a promise that is new.
 *
 *     node scripts/figures.mjs
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { files, importsIn, sources } from './imports.mjs';

/** Lines of rooms; those of their folders count. */
const ROOMS = {
  'src without origin': 37_104,
  'graph and api': 6_835,
  engine: 9_224,
  'engine/cost': 1_178,
  'engine/documents': 884,
  'upstream without redis': 5_241,
  'upstream/limits': 602,
  'upstream/redis': 1_287,
  'server without idempotency': 7_050,
  'server/http': 2_030,
  'server/features/idempotency': 1_098,
  atom: 1_026,
  config: 1_376,
  'check and doctor and inspect and commands and cli': 2_095,
  'embedding and extension': 652,
  origin: 3_752,
};
/** Files, and lines, that are loaded with a file. */
const LOADED = {
  'src/engine/plan/plan-operation.ts': { files: 12, lines: 1_209 },
  'src/engine/cost/call-cost.ts': { files: 23, lines: 3_084 },
  'src/engine/execute/executor.ts': { files: 30, lines: 4_394 },
  'src/engine/documents/assess.ts': { files: 51, lines: 6_280 },
  'src/price.ts': { files: 158, lines: 16_771 },
};
const features = readdirSync(fileURLToPath(new URL('../src/server/features', import.meta.url)), {
  withFileTypes: true,
});
/** Files of `src` that a file imports. The list of features imports each of them. */
const IMPORTED = {
  'src/server/server.ts': 12,
  'src/server/features/features.ts': features.filter((entry) => entry.isDirectory()).length + 1,
  'src/server/graphql/graphql.ts': 13,
  'src/server/graphql/pipeline.ts': 16,
};
/** Folders that contain a word of the domain. */
const FOLDERS_WITH_ANNOTATION = 15;
/** Metrics of the facade: those that an alert, a panel or a page of docs names. */
const METRICS = 35;
/** Rows in the table of settings. */
const SETTINGS = 72;
/** Files with a signature that takes all settings. */
const WHOLE_CONFIG = 6;

const read = (file) => sources.get(file).text;

const figures = [];
for (const [room, most] of Object.entries(ROOMS)) figures.push([`lines of ${room}`, linesOfRoom(room), most]);
for (const [file, most] of Object.entries(LOADED)) {
  const loaded = [...closureOf(file)];
  figures.push([`files loaded with ${file}`, loaded.length, most.files]);
  figures.push([`lines loaded with ${file}`, loaded.reduce((sum, each) => sum + linesOf(each), 0), most.lines]);
}
for (const [file, most] of Object.entries(IMPORTED))
  figures.push([`files that ${file} imports`, importsIn(sources.get(file), { whenRun: false }).length, most]);
const folders = new Set(files.filter((file) => /annotation/i.test(read(file))).map(dirname));
figures.push(['folders with the word annotation', folders.size, FOLDERS_WITH_ANNOTATION]);
const metrics = readFileSync(fileURLToPath(new URL('../docs/metrics.md', import.meta.url)), 'utf8');
figures.push(['metrics', [...metrics.matchAll(/^- `catalog_/gm)].length, METRICS]);
const whole = files.filter((file) => /[:<(] ?Config\b(?!\[)/.test(read(file).replace(/Pick<\s*Config/g, '')));
figures.push(['files with a signature that takes the whole Config', whole.length, WHOLE_CONFIG]);

const rows = read('src/config/settings.ts').match(/\b(?:setting|optional)\(\s*'[A-Z_]+'/g);
figures.push(['settings', rows.length, SETTINGS]);

for (const [what, figure, most] of figures) {
  console.log(`${what}: ${figure}, at most ${most}`);
  if (figure > most) process.exitCode = 1;
}

function closureOf(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const target of importsIn(sources.get(file), { withTypes: false, whenRun: false })) closureOf(target, seen);
  return seen;
}

/** `a and b`: of both. `a without b`: of the folder `a` without `a/b`, wherever in it `b` is. */
function linesOfRoom(room) {
  const [of, without] = room.split(' without ');
  const folders = of.split(' and ').map((folder) => (folder === 'src' ? 'src/' : `src/${folder}/`));
  return files
    .filter((file) => folders.some((folder) => file.startsWith(folder)) && !(without && file.includes(`/${without}/`)))
    .reduce((sum, file) => sum + linesOf(file), 0);
}

function linesOf(file) {
  return read(file).split('\n').length - 1;
}
