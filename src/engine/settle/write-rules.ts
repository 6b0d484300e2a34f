/** The rule of each endpoint that writes, by which a write whose response was lost is recognised. */
import type { Endpoint } from '../../api/endpoint.ts';
import type { WriteRule, WriteRules } from '../../upstream/write-guard.ts';

const rules = new Map<Endpoint, WriteRule>();

/** By the name of the endpoint: a write without a rule does not compile. */
export function declareWrites<Table extends Readonly<Record<string, Endpoint>>>(
  endpoints: Table,
  own: WriteRules<Table>,
): void {
  for (const [name, rule] of Object.entries<WriteRule>(own)) rules.set(endpoints[name]!, rule);
}

export function writeRuleOf(endpoint: Endpoint): WriteRule<object> {
  const rule = rules.get(endpoint);
  if (!rule) throw new Error(`no rule for ${endpoint.method} ${endpoint.path}`);
  return rule as WriteRule<object>;
}

/** The rule of the endpoint with this method and path, as costs name it. */
export const writeRuleAt = (line: string): { endpoint: Endpoint; rule: WriteRule } | undefined => {
  for (const [endpoint, rule] of rules) if (`${endpoint.method} ${endpoint.path}` === line) return { endpoint, rule };
  return undefined;
};
