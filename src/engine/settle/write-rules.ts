/** The rule of each endpoint that writes. Mutations declare them. */
import type { Endpoint } from '../../api/endpoint.ts';
import type { WriteRule } from '../../upstream/write-guard.ts';

const rules = new Map<Endpoint, WriteRule>();

export function addWriteRule(endpoint: Endpoint, rule: WriteRule): void {
  rules.set(endpoint, rule);
}

export function writeRuleOf(endpoint: Endpoint): WriteRule<object> {
  const rule = rules.get(endpoint);
  if (!rule) throw new Error(`no mutation declares ${endpoint.method} ${endpoint.path}`);
  return rule as WriteRule<object>;
}

/** The rule of the endpoint with this method and path, as costs name it. */
export const writeRuleAt = (line: string): { endpoint: Endpoint; rule: WriteRule } | undefined => {
  for (const [endpoint, rule] of rules) if (`${endpoint.method} ${endpoint.path}` === line) return { endpoint, rule };
  return undefined;
};
