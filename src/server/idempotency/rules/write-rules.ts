/** The rule of each endpoint that writes. */
import type { Endpoint } from '../../../api/endpoint.ts';
import { bookWriteRules } from './book-rules.ts';
import { eventWriteRules } from './event-rules.ts';
import { noteWriteRules } from './note-rules.ts';
import type { WriteRule } from './rule.ts';

const rules = new Map<Endpoint, WriteRule>([...bookWriteRules, ...noteWriteRules, ...eventWriteRules]);

export function writeRuleOf(endpoint: Endpoint): WriteRule<object> {
  const rule = rules.get(endpoint);
  if (!rule) throw new Error(`${endpoint.method} ${endpoint.path} has no rule in src/server/idempotency/rules`);
  return rule as WriteRule<object>;
}

const byLine = new Map<string, { rule: WriteRule; service: Endpoint['service'] }>(
  [...rules].map(([{ method, path, service }, rule]) => [`${method} ${path}`, { rule, service }]),
);

/** The rule of the endpoint with this method and path, as costs name it. */
export const writeRuleAt = (line: string) => byLine.get(line);
