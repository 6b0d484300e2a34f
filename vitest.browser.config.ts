import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const config = mergeConfig(base, {});
config.test = {
  ...config.test,
  include: ['test/browser/**/*.test.ts'],
  exclude: [],
  testTimeout: 60_000,
  maxWorkers: 1,
};

export default config;
