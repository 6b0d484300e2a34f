/**
 * node summary.mjs <results> [file of unstable tests]: prints what failed in a run of .ci/run at its end, where readers look first, how many
 * tests were unstable, and the totals as the last line.
 */
import { existsSync, readFileSync } from 'node:fs';
import { judge, readReport, readUnstable } from './failures.mjs';

const [results, unstableFile] = process.argv.slice(2);
const known = readUnstable(unstableFile);
const hasFailed = (name) => existsSync(`${results}/${name}.failed`);
const show = (name) => console.log(`== failed: ${name}\n${readFileSync(`${results}/${name}.failed`, 'utf8')}`);
const list = (title, failures) => {
  for (const { text } of failures) console.log(`== ${title}: ${text.slice(0, 2_000)}`);
};

const steps = ['tools', 'check', 'types', 'changes', 'oracle', 'replicas', 'smoke'].filter(hasFailed);
steps.forEach(show);
const sum = { passed: 0, failed: steps.length, unstable: 0 };

for (const name of ['unit', 'browser', 'node24', 'processes24', 'package24', 'node26']) count(name);

if (sum.unstable > 0)
  console.log(`== ${sum.unstable} unstable: failed beside other tests and passed alone, as .ci/unstable.json says`);
console.log(`${sum.passed} passed, ${sum.failed} failed`);
process.exit(sum.failed > 0 ? 1 : 0);

function count(name) {
  const report = readReport(`${results}/${name}.json`);
  sum.passed += report?.passed ?? 0;
  if (report?.failures.length > 0) {
    const alone = `${name}-alone`;
    const passesAlone = existsSync(`${results}/${alone}.json`) && !hasFailed(alone);
    const { unstable, failed } = judge(report.failures, passesAlone, known);
    list(
      passesAlone
        ? `failed in ${name} beside other tests, passed alone, not in .ci/unstable.json`
        : `failed in ${name}`,
      failed,
    );
    list(`unstable in ${name}`, unstable);
    sum.failed += failed.length;
    sum.unstable += unstable.length;
    return;
  }
  // No test, an error outside of all tests, or no report.
  if (report?.passed === 0) console.log(`== failed: ${name} has run no test`);
  else if (hasFailed(name)) show(name);
  if (hasFailed(name) || !report?.passed) sum.failed++;
}
