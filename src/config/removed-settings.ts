/** Settings that there were before 1.0.0: what decides now, and what to do. The start tells of each that is given. */
import { type Derived, type Fixed, fixed } from './fixed.ts';

/** Undefined if nothing is lost of this value. */
function whyNoWorkers(value: string): string | undefined {
  if (value !== 'auto' && !(Number(value) > 1)) return undefined;
  const lost = value === 'auto' ? 'all cores but one' : `${Number(value) - 1} of ${Number(value)} processes`;
  return `a command is one process, so the capacity of ${lost} is gone. Run several instances over one REDIS_URL, as docs/operations.md says under “Several instances”.`;
}

const derived: Record<keyof Derived, string> = {
  maxTokens: 'MAX_DOCUMENT_CHARACTERS decides it. Remove it.',
  headersTimeoutMs: 'it is half of CALL_TIMEOUT_MS now. Remove it.',
};
const others = {
  maxConnectionAgeMs: 'a connection is used for 1,000 requests. Remove it.',
  maxBusyConnections: 'MAX_CONNECTIONS is the most. Remove it.',
  suggestions: 'INTROSPECTION decides it. Remove it.',
  serverTiming: 'EXPLAIN decides it. Remove it.',
  demoTokens: 'DEMO decides it. Remove it.',
  upstreamUserAgent: 'it is catalog-graphql and its version now. Remove it.',
  checkResponses: 'responses are always checked. Remove it.',
  otelExporterOtlpHeadersFile:
    'it is not read. Set OTEL_EXPORTER_OTLP_HEADERS, for example from a secret of the platform.',
  revalidateSeconds: 'a record whose time is over is read before the response. Remove it.',
  usageClients: 'all clients are counted by name. Remove it.',
  limits: 'limits are always in force. Remove it.',
  workers: whyNoWorkers,
};

export type RemovedName = keyof Fixed | keyof Derived | keyof typeof others;

const numbers = Object.entries(fixed).map(([name, number]) => [name, `it is ${number} now. Remove it.`] as const);

export const removedSettings = [...numbers, ...Object.entries({ ...derived, ...others })].map(([name, why]) => {
  const env = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const whyOf = typeof why === 'string' ? (): string | undefined => why : why;
  return { name: name as RemovedName, env, flag: `--${env.toLowerCase().replaceAll('_', '-')}`, whyOf };
});
