import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { runsConformance } from '../support/optional.ts';
import { temporaryDirectory } from '../support/service.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The suite of each era, and how many of its checks pass. */
const suites: [edition: string, options: string[], passed: number][] = [
  ['2025-11-25', ['--suite', 'all', '--spec-version', '2025-11-25'], 37],
  ['2026-07-28', ['--requirements', '2026-07-28'], 98],
];

/** Checks of scenarios whose other checks pass: those of prompts and resources, and of tools for what the server never does. */
const notApplicable = [
  'sep-2549-prompts-list-caching-hints',
  'sep-2549-resources-list-caching-hints',
  'sep-2549-resources-templates-list-caching-hints',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
];

test.skipIf(!runsConformance).each(suites)(
  'the official suite for edition %s passes, except for what does not apply (it needs Node 22 or newer)',
  async (edition, options, passed) => {
    const { facade } = await journey({ mcp: 'on', mcpOperations: here('operations') });
    const suite = here('node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const folder = temporaryDirectory();
    const { code, out } = await run([
      ...[suite, 'server', ...options, '--output-dir', folder],
      // It takes `localhost` only, to try other hosts against it.
      ...['--url', `http://localhost:${facade.port}/mcp`],
      ...['--expected-failures', here(`expected-failures.${edition}.yml`)],
    ]);
    expect([code, out]).toEqual([0, expect.stringContaining(`Total: ${passed} passed`)]);
    if (edition === '2026-07-28') expect(failedChecks(folder, ['server-stateless', 'caching'])).toEqual(notApplicable);
  },
);

function failedChecks(folder: string, scenarios: readonly string[]): string[] {
  const runs = readdirSync(folder).filter((name) => scenarios.some((each) => name.startsWith(`server-${each}-2`)));
  expect(runs).toHaveLength(scenarios.length);
  const checks = runs.flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as { id: string; status: string }[],
  );
  return checks.flatMap(({ id, status }) => (status === 'FAILURE' ? [id] : [])).sort();
}

const run = (given: string[]) =>
  new Promise<{ code: unknown; out: string }>((resolve) => {
    execFile(process.execPath, given, { maxBuffer: 1e8 }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out: out + err }),
    );
  });
