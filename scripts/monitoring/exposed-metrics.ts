/**
 * What a facade with Redis and trusted documents exposes at /metrics: the source of the list in docs, and of all names in
 * alerts and dashboard.
 */
import { pino } from 'pino';
import { readConfig } from '../../src/config/read.ts';
import { createCore } from '../../src/server/core.ts';
import { allFeatures } from '../../src/server/features/features.ts';
import { createGraphServer } from '../../src/server/server.ts';

export interface ExposedMetric {
  name: string;
  help: string;
  type: string;
}

/** No port is opened, and nothing is called: what cannot be reached is exposed as such. */
export async function exposedMetrics(): Promise<ExposedMetric[]> {
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    ...{ NODE_ENV: 'production', BASE_URL: nowhere, EVENT_BASE_URL: nowhere, REDIS_URL: 'redis://127.0.0.1:9' },
    PERSISTED_OPERATIONS: 'client/manifest.json',
  };
  const config = readConfig(env);
  const core = createCore(config, pino({ level: 'silent' }));
  createGraphServer(core, allFeatures({}));
  core.metrics.collectProcessMetrics();
  const text = await core.metrics.text();
  await core.close();
  return [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
    .map(([, name, help, type]) => ({ name: name!, help: help!, type: type! }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The series of a metric that an expression may name. */
export const seriesOf = ({ name, type }: ExposedMetric): string[] =>
  type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name];

/** Metrics in a PromQL expression: those of the facade and of its process. */
export const namesIn = (expression: string): string[] =>
  expression.replaceAll(/"[^"]*"/g, '').match(/\b(?:catalog|nodejs|process)_\w+/g) ?? [];

/** Throws if an expression names a metric that no facade has. */
export function checkNames(metrics: readonly ExposedMetric[], expressions: readonly string[]): void {
  const known = new Set(metrics.flatMap(seriesOf));
  const unknown = expressions.flatMap(namesIn).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`No facade has these metrics: ${unknown.join(', ')}`);
}
