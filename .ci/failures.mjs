/** What a report of vitest in JSON says of failures. */
import { readFileSync } from 'node:fs';

/** The report, and its failures: each with the file, and a text that says which test failed and why. */
export function readReport(file) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const failures = report.testResults.flatMap(({ name: file, status, message, assertionResults: tests }) =>
    status === 'failed' && tests.length === 0
      ? [{ file, text: `${file} does not load: ${message}` }]
      : tests
          .filter((test) => test.status === 'failed')
          .map((test) => ({ file, text: `${file}: ${test.fullName}: ${test.failureMessages.join('\n')}` })),
  );
  return { passed: report.numPassedTests, failures };
}
