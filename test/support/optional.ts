import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Whether all is tested, as in .ci/run. Otherwise tests with many cases of one kind run a sample, and those below do not run. */
export const thorough = process.env.THOROUGH === '1';

/** Folders of tests that have a package.json of their own. They start compilers and servers of others. */
const tooled = ['test/clients', 'test/frontend', 'test/conformance', 'test/runtimes', 'test/kubernetes'];
/** Tests that mainly build, pack or start programs, or fill caches. */
const heavy = [
  'test/build.test.ts',
  'test/container.test.ts',
  'test/hostile/sigterm.test.ts',
  'test/journey/memory.test.ts',
  'test/journey/readme.test.ts',
  'test/monitoring/alerts.test.ts',
  'test/package.test.ts',
  'test/schema-changes.test.ts',
  'test/server/graphql/plans.test.ts',
  'test/server/idempotency/campaign.test.ts',
  'test/upstream/redis/failover.test.ts',
  'test/upstream/redis/forms.test.ts',
  'test/workers/workers.test.ts',
];
const programs = ['redis-server', 'redis-sentinel', 'openssl', 'curl', 'nginx', 'promtool'];

const withoutPackages = (): string[] => tooled.filter((folder) => !hasPackages(join(root, folder)));

/** The files that do not run, as patterns. */
export const notRun = (): string[] =>
  thorough ? withoutPackages().map((folder) => `${folder}/**`) : [...tooled.map((folder) => `${folder}/**`), ...heavy];

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

const sampled = (): string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules') && file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(root, 'test', file), 'utf8').includes('thorough ?'))
    .map((file) => `test/${file}`)
    .filter((file) => !heavy.includes(file))
    .sort();

/** One line on what is skipped and how to run it; undefined if nothing is. */
export function skippedLine(): string | undefined {
  const folders = thorough ? withoutPackages() : [];
  const missing = programs.filter((name) => !hasProgram(name));
  const parts = [
    ...(folders.length > 0 ? [`${folders.join(', ')} (npm run tools installs what they need)`] : []),
    ...(missing.length > 0 ? [`the tests of ${missing.join(', ')} (not installed)`] : []),
    ...(!thorough || runsConformance ? [] : ['the conformance suite of MCP (needs Node 22)']),
    ...(existsSync(join(root, '../shared/corpus')) ? [] : ['captured responses (no ../shared/corpus)']),
    ...(thorough
      ? []
      : [
          `${[...tooled, ...heavy].join(', ')}, and cases of ${sampled().join(', ')} (after npm run tools, THOROUGH=1 npm test runs all, as .ci/run does)`,
        ]),
  ];
  return parts.length > 0 ? `Skipped: ${parts.join('; ')}.` : undefined;
}
