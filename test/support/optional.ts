import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Whether all is tested, as in .ci/run. Otherwise tests with many cases of one kind run a sample, and slow files only if they are named. */
export const thorough = process.env.THOROUGH === '1';

/** Each `nth` item; another `round` has others. */
export const everyNth = <Item>(items: readonly Item[], nth: number, round = 0): Item[] =>
  items.filter((_, at) => (at + round) % nth === 0);

/** All items, or in a sample each `nth`; another `round` has others. */
export const sampleOf = <Item>(items: readonly Item[], nth: number, round = 0): Item[] =>
  everyNth(items, thorough ? 1 : nth, round);

/** Folders of tests that have a package.json of their own. They start compilers and servers of others. */
const tooled = [
  'test/clients',
  'test/plugins',
  'test/frontend',
  'test/conformance',
  'test/runtimes',
  'test/kubernetes',
];
/** Tests that mainly build, pack or start programs, fill caches, or have many slow cases. */
const SLOW = 'test/**/*.slow.test.ts';
const programs = ['redis-server', 'redis-sentinel', 'openssl', 'curl', 'nginx', 'promtool'];

/** Whether the command line names files or folders: these run in any case. */
const isNamed = process.argv.slice(2).some((word) => word.startsWith('test/') && !word.includes('*'));

const withoutPackages = (): string[] => tooled.filter((folder) => !hasPackages(join(root, folder)));
const onlyThorough = (): string[] => (thorough || isNamed ? [] : [...tooled, SLOW]);

/** The files that do not run, as patterns. */
export const notRun = (): string[] =>
  [...withoutPackages(), ...onlyThorough()].map((place) => (place.endsWith('.ts') ? place : `${place}/**`));

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

/** One line on what is skipped and how to run it; undefined if nothing is, or if the command line says what runs. */
export function skippedLine(): string | undefined {
  if (isNamed) return undefined;
  const folders = withoutPackages();
  const missing = programs.filter((name) => !hasProgram(name));
  const left = onlyThorough().filter((place) => !folders.includes(place));
  const parts = [
    ...(folders.length > 0 ? [`${folders.join(', ')} (npm run tools installs what they need)`] : []),
    ...(missing.length > 0 ? [`the tests of ${missing.join(', ')} (not installed)`] : []),
    ...(runsConformance ? [] : ['the conformance suite of MCP (needs Node 22)']),
    ...(left.length > 0
      ? [
          `${left.join(', ')}, and of tests with many cases all but a sample (THOROUGH=1 npm test, as in .ci/run, runs all)`,
        ]
      : []),
  ];
  return parts.length > 0 ? `Skipped: ${parts.join('; ')}.` : undefined;
}
