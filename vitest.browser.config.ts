import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/browser/**/*.test.ts'], exclude: [], testTimeout: 600_000, maxWorkers: 1 },
});
