import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders of tests that have a package.json of their own. */
const tooled = ['test/clients', 'test/frontend', 'test/conformance', 'test/runtimes', 'test/kubernetes'];
const programs = ['redis-server', 'redis-sentinel', 'openssl', 'curl', 'nginx', 'promtool'];

/** The folders with a package that is not installed. */
export const withoutTools = (): string[] => tooled.filter((folder) => !hasPackages(join(root, folder)));

function hasPackages(folder: string): boolean {
  const { devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    devDependencies: object;
  };
  return Object.keys(devDependencies).every((name) => existsSync(join(folder, 'node_modules', name)));
}

export const hasProgram = (name: string): boolean =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((folder) => existsSync(join(folder, name)));

/** The suite uses what Node 20 lacks. */
export const runsConformance = Number(process.versions.node.split('.')[0]) >= 22;

/** Whether tests with many cases of one kind run all of them, as in .ci/run; otherwise they run a sample. */
export const thorough = process.env.THOROUGH === '1';

const sampling = (): string[] =>
  thorough
    ? []
    : readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
        .filter((file) => !file.includes('node_modules') && file.endsWith('.test.ts'))
        .filter((file) => readFileSync(join(root, 'test', file), 'utf8').includes('thorough ?'))
        .map((file) => file.replace('.test.ts', ''))
        .sort();

/** One line on what is skipped and how to run it; undefined if nothing is. */
export function skippedLine(): string | undefined {
  const folders = withoutTools();
  const missing = programs.filter((name) => !hasProgram(name));
  const parts = [
    ...(folders.length > 0 ? [`${folders.join(', ')} (npm run tools installs what they need)`] : []),
    ...(missing.length > 0 ? [`the tests of ${missing.join(', ')} (not installed)`] : []),
    ...(runsConformance ? [] : ['the conformance suite of MCP (needs Node 22)']),
    ...(existsSync(join(root, '../shared/corpus')) ? [] : ['captured responses (no ../shared/corpus)']),
  ];
  const sampled = sampling();
  if (sampled.length > 0) parts.push(`cases of ${sampled.join(', ')} (THOROUGH=1 npm test runs all, as .ci/run does)`);
  return parts.length > 0 ? `Skipped: ${parts.join('; ')}.` : undefined;
}
