import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/slowest-first.ts';
import { notRun } from './test/support/optional.ts';

const graphql = dirname(createRequire(import.meta.url).resolve('graphql/package.json'));

export default defineConfig({
  resolve: {
    // One copy of graphql: otherwise the tests load the .mjs and dependencies the .js, and instanceof fails between them.
    alias: [{ find: /^graphql$/, replacement: `${graphql}/index.js` }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/browser/**', ...notRun()],
    globalSetup: ['test/build.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    // More than twice two cores: half of the time a worker waits for sockets and timers, and with four a core is idle 15 % of the time.
    maxWorkers: 5,
    // The files of a worker share its modules: loading the schema for each file was a third of the suite's time.
    isolate: false,
    // What files were transformed to is kept in node_modules, by their content.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: SlowestFirst },
    // What a program or a library writes when the last test of a worker has ended is lost, and is no failure.
    onUnhandledError: ({ name }) => name !== 'EnvironmentTeardownError',
    // No test checks durations unless it says so, and a machine may be slow or stall for seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
