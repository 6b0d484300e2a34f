import { defineConfig } from 'vitest/config';
import { PATIENT } from './test/browser/chromium.ts';
import base from './vitest.config.ts';

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/browser/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 600_000,
    expect: { poll: { timeout: PATIENT } },
    maxWorkers: 2,
  },
});
