import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Whether all is tested, as in .ci/run. Otherwise tests with many cases of one kind run a sample, and those below do not run. */
export const thorough = process.env.THOROUGH === '1';

/** All items, or in a sample each `nth`; another `round` has others. */
export const sampleOf = <Item>(items: readonly Item[], nth: number, round = 0): Item[] =>
  items.filter((_, at) => thorough || (at + round) % nth === 0);

/** Folders of tests that have a package.json of their own. They start compilers and servers of others. */
const tooled = [
  'test/clients',
  'test/plugins',
  'test/frontend',
  'test/conformance',
  'test/runtimes',
  'test/kubernetes',
];
/** Tests that mainly build, pack or start programs, fill caches, or have many slow cases: without them `npm test` takes less than 150 s. */
const heavy = [
  'test/build.test.ts',
  'test/check/check.test.ts',
  'test/check/files.test.ts',
  'test/cli/output.test.ts',
  'test/client/eslint.test.ts',
  'test/client/price.test.ts',
  'test/container.test.ts',
  'test/engine/toy-service.test.ts',
  'test/extension/authorize.test.ts',
  'test/extension/declared-types.test.ts',
  'test/extension/schema.test.ts',
  'test/extension/services.test.ts',
  'test/hostile/client.test.ts',
  'test/hostile/cuts.test.ts',
  'test/hostile/informational.test.ts',
  'test/hostile/leaving.test.ts',
  'test/hostile/reading.test.ts',
  'test/hostile/sigterm.test.ts',
  'test/hostile/texts.test.ts',
  'test/hostile/upstream.test.ts',
  'test/journey/afterwriting.test.ts',
  'test/journey/budget.test.ts',
  'test/journey/callers.test.ts',
  'test/journey/memory.test.ts',
  'test/journey/readme.test.ts',
  'test/journey/sharing.test.ts',
  'test/journey/tiers.test.ts',
  'test/main.test.ts',
  'test/monitoring/alerts.test.ts',
  'test/oracle/identity.test.ts',
  'test/oracle/told.test.ts',
  'test/origin/synthetic.test.ts',
  'test/package.test.ts',
  'test/schema-changes.test.ts',
  'test/server/features/idempotency/disturbed-redis.test.ts',
  'test/server/features/idempotency/largest-bodies.test.ts',
  'test/server/features/idempotency/leaving.test.ts',
  'test/server/features/mcp/clients.test.ts',
  'test/server/features/mcp/denial.test.ts',
  'test/server/features/mcp/places.test.ts',
  'test/server/features/mcp/price.test.ts',
  'test/server/graphql/plans.test.ts',
  'test/server/manifests.test.ts',
  'test/tasks.test.ts',
  'test/upstream/http/pool.test.ts',
  'test/upstream/redis/cache.test.ts',
  'test/upstream/redis/connection/connection.test.ts',
  'test/upstream/redis/failover.test.ts',
  'test/upstream/redis/forms.test.ts',
  'test/upstream/redis/full.test.ts',
];
const programs = ['redis-server', 'redis-sentinel', 'openssl', 'curl', 'nginx', 'promtool'];

/** The files and folders that the command line names: they run in any case. */
const named = process.argv.slice(2).filter((word) => word.startsWith('test/'));
const isNamed = (place: string): boolean => named.some((word) => word.startsWith(place) || place.startsWith(word));

const withoutPackages = (): string[] => tooled.filter((folder) => !hasPackages(join(root, folder)));
const onlyThorough = (): string[] => (thorough ? [] : [...tooled, ...heavy].filter((place) => !isNamed(place)));

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

const sampled = (): string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules') && file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(root, 'test', file), 'utf8').match(/thorough \?|sampleOf\(/))
    .map((file) => `test/${file}`)
    .sort();

/** One line on what is skipped and how to run it; undefined if nothing is. */
export function skippedLine(): string | undefined {
  const folders = withoutPackages();
  const missing = programs.filter((name) => !hasProgram(name));
  const left = onlyThorough().filter((place) => !folders.includes(place));
  const parts = [
    ...(folders.length > 0 ? [`${folders.join(', ')} (npm run tools installs what they need)`] : []),
    ...(missing.length > 0 ? [`the tests of ${missing.join(', ')} (not installed)`] : []),
    ...(runsConformance ? [] : ['the conformance suite of MCP (needs Node 22)']),
    ...(left.length > 0
      ? [`${left.join(', ')} (run by THOROUGH=1 npm test, as in .ci/run, and if they are named)`]
      : []),
    ...(thorough ? [] : [`cases of ${sampled().join(', ')} (all run by THOROUGH=1 npm test)`]),
  ];
  return parts.length > 0 ? `Skipped: ${parts.join('; ')}.` : undefined;
}
