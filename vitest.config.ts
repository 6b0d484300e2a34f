import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { defineConfig } from 'vitest/config';

const graphql = dirname(createRequire(import.meta.url).resolve('graphql/package.json'));

export default defineConfig({
  resolve: {
    // One copy of graphql: ours would be the .mjs and the dependencies' the .js, and instanceof fails between them.
    alias: [{ find: /^graphql$/, replacement: `${graphql}/index.js` }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
    globalSetup: ['test/build.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
