/** Runs every part of the check, also after one has failed, and says at the end which failed. */
import { spawnSync } from 'node:child_process';

const parts = {
  types: 'npm run -s types',
  lint: 'npm run -s lint',
  structure: 'node scripts/structure.mjs',
  formatting: 'npx prettier --check --log-level warn .',
  'generated files': 'npm run -s codegen -- --check',
  'demo data': 'npm run -s demo -- --check',
  'path of queries': 'node build.mjs src/main.ts && node scripts/query-path.mjs',
};
const failed = Object.entries(parts).flatMap(([name, command]) => {
  console.log(`== ${name}`);
  return spawnSync(command, { shell: true, stdio: 'inherit' }).status === 0 ? [] : [name];
});
if (failed.length > 0) {
  console.error(`== failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
