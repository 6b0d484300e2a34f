/** What a report of vitest in JSON says of failures. */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const root = `${import.meta.dirname}/..`;

/** The report, and its failures: each with its file, its name, and a text that says why. Undefined if there is no report. */
export function readReport(path) {
  if (!existsSync(path)) return undefined;
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults: tests }) => {
    const file = relative(root, name);
    if (status === 'failed' && tests.length === 0)
      return [{ file, test: '', text: `${file} does not load: ${message}` }];
    return tests
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => ({
        file,
        test: fullName,
        text: `${file}: ${fullName}: ${failureMessages.join('\n')}`,
      }));
  });
  return { passed: report.numPassedTests, failures };
}

/** How many tests may be known as unstable. */
const MOST = 10;

/**
 * The tests that may fail beside others and pass alone, with the cause, and the day on which that was seen. Such a test is to be mended:
 * a cause that has no entry must not become one more that passes the second time. Throws if there are too many, or one is incomplete.
 */
export function readUnstable(path = `${import.meta.dirname}/unstable.json`) {
  const known = JSON.parse(readFileSync(path, 'utf8'));
  if (known.length > MOST) throw new Error(`${path} has ${known.length} tests; at most ${MOST} may be unstable`);
  for (const { file, test, cause, since } of known)
    if (!file || !test || !cause || !/^\d{4}-\d\d-\d\d$/.test(since))
      throw new Error(
        `${path}: an entry needs file, test, cause and since: ${JSON.stringify({ file, test, cause, since })}`,
      );
  return known;
}

/**
 * What of the failures counts as one: all, unless their files passed when they ran once more, alone. Then those are unstable that are known
 * as such, and the others count.
 */
export function judge(failures, passesAlone, known) {
  const isKnown = ({ file, test }) => known.some((each) => each.file === file && each.test === test);
  const unstable = passesAlone ? failures.filter(isKnown) : [];
  return { unstable, failed: failures.filter((failure) => !unstable.includes(failure)) };
}
