import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { runsConformance } from '../support/optional.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

test.skipIf(!runsConformance)(
  'the official suite passes, except for the scenarios that do not apply (it needs Node 22 or newer)',
  async () => {
    const { facade } = await journey({ mcp: 'on', mcpOperations: here('operations') });
    const suite = here('node_modules/@modelcontextprotocol/conformance/dist/index.js');
    // It takes `localhost` only, to try other hosts against it.
    const options = ['--url', `http://localhost:${facade.port}/mcp`, '--suite', 'all'];
    const { code, out } = await run([
      suite,
      'server',
      ...options,
      '--expected-failures',
      here('expected-failures.yml'),
    ]);
    expect([code, out]).toEqual([0, expect.stringMatching(/Total: 8 passed/)]);
  },
);

const run = (given: string[]) =>
  new Promise<{ code: unknown; out: string }>((resolve) => {
    execFile(process.execPath, given, { maxBuffer: 1e8 }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out: out + err }),
    );
  });
