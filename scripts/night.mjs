/** What takes too long for .ci/run, one after the other, and at the end what failed: npm run night, or `npm run night -- --quick` for a few minutes. */
import { spawnSync } from 'node:child_process';

const isQuick = process.argv.includes('--quick');
const commands = [
  [
    'writes with keys',
    isQuick ? 'SETTLE_WRITES=60 npx vitest run test/server/features/idempotency/campaign.test.ts' : 'npm run settle',
  ],
  ['oracle', `npm run oracle:extended -- --seconds ${isQuick ? 20 : 1_800}`],
  ['oracle of replicas', `npm run oracle -- --replicas 3 --redis --seconds ${isQuick ? 20 : 1_800}`],
  ['mutants', `node scripts/mutation.mjs --seed ${Date.now()} ${isQuick ? '--sample 3 --first-pass' : '--sample 60'}`],
  ['soak', `node scripts/soak.mjs ${isQuick ? 1 : 60}`],
  ['benchmark', `npm run bench -- ${isQuick ? '--quick --only W1 --rounds 1' : '--quick'}`],
];

const failed = commands.filter(([name, command]) => {
  console.log(`== ${name}: ${command}`);
  return spawnSync(command, { shell: true, stdio: 'inherit' }).status !== 0;
});
console.log(failed.length === 0 ? 'All passed.' : `Failed: ${failed.map(([name]) => name).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
