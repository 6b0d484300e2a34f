/** node summary.mjs <results>: prints what failed in a run of .ci/run at its end, where readers look first, and the totals. */
import { existsSync, readFileSync } from 'node:fs';
import { readReport } from './failures.mjs';

const [results] = process.argv.slice(2);
const hasFailed = (name) => existsSync(`${results}/${name}.failed`);
const show = (name) => console.log(`== failed: ${name}\n${readFileSync(`${results}/${name}.failed`, 'utf8')}`);
const list = (title, failures) => {
  for (const { text } of failures) console.log(`== ${title}: ${text.slice(0, 2_000)}`);
};

let passed = 0;
const failures = ['tools', 'check', 'types', 'changes', 'oracle', 'replicas', 'smoke'].filter(hasFailed);
for (const name of failures) show(name);
let failed = failures.length;

for (const name of ['unit', 'browser', 'node24', 'processes24', 'package24', 'node26']) {
  const file = `${results}/${name}.json`;
  const report = existsSync(file) ? readReport(file) : undefined;
  passed += report?.passed ?? 0;
  failed += countFailures(name, report);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

function countFailures(name, report) {
  if (report?.failures.length > 0) {
    const alone = `${name}-alone`;
    const passesAlone = existsSync(`${results}/${alone}.json`) && !hasFailed(alone);
    list(passesAlone ? `failed in ${name} beside other tests, passed alone` : `failed in ${name}`, report.failures);
    if (!passesAlone) return report.failures.length;
    passed += report.failures.length;
    return 0;
  }
  if (report?.passed === 0) {
    console.log(`== failed: ${name} has run no test`);
    return 1;
  }
  // An error outside of all tests, or no report.
  if (hasFailed(name)) show(name);
  return hasFailed(name) || !report ? 1 : 0;
}
