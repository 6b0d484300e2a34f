/** The alerts, and what an operator does about each: the rules of Prometheus and docs/runbook.md are made of this table. */
import { stringify } from 'yaml';
import { fixed } from '../../src/config/fixed.ts';
import type { ClientCode } from '../../src/engine/errors/codes.ts';

export interface Alert {
  name: string;
  /** The heading of its paragraph in the runbook. */
  title: string;
  /** `page` wakes somebody, `ticket` waits for the morning. */
  severity: 'page' | 'ticket';
  /** Of Prometheus, true for a minute before the alert fires. */
  expression: string;
  /** What Prometheus says of the series; `{{ }}` are its templates. */
  summary: string;
  means: string;
  look: string;
  change: string;
}

/** Errors that neither the client nor a missing record caused. */
const FAULTS: readonly ClientCode[] = [
  'INTERNAL_SERVER_ERROR',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_INVALID_RESPONSE',
  'UPSTREAM_RESULT_UNKNOWN',
];

const OF = 'instance, job';
/** Only of facades: every program with prom-client has metrics of its process. */
const OF_FACADES = `and on (${OF}) catalog_build_info`;
const codes = (matcher: string) => `sum by (${OF}, code) (rate(catalog_errors_total${matcher}[5m]))`;
const operations = `on (${OF}) group_left () sum by (${OF}) (rate(catalog_operations_total[5m]))`;
const calls = (matcher = '') => `sum by (${OF}, service, endpoint) (rate(catalog_upstream_calls_total${matcher}[5m]))`;
const unexpected = 'catalog_unexpected_members_total';
const callsOf = (matcher = '') => `sum by (${OF}, service) (rate(catalog_upstream_calls_total${matcher}[2m]))`;
/** What becomes of a read and of a write that a gateway responds to with 502, 503 or 504; also of a write whose response is lost. */
const UNSERVED = '{outcome=~"UPSTREAM_UNAVAILABLE|UPSTREAM_RESULT_UNKNOWN"}';
const refusals = `sum by (${OF}) (rate(catalog_rate_limited_total[5m]))`;

export const alerts: readonly Alert[] = [
  {
    name: 'CatalogUpstreamAway',
    title: 'An upstream is away',
    severity: 'page',
    expression: `catalog_upstream_up == 0 or ${callsOf(UNSERVED)} / ${callsOf()} > 0.5 and ${callsOf(UNSERVED)} > 0.05`,
    summary:
      '{{ $labels.service }} cannot be reached from {{ $labels.instance }}, or serves less than half of the calls.',
    means:
      'Its circuit breaker is open, its gateway responds with 502, 503 or 504, or responses to writes are lost (at least six calls in two minutes). Only cached records are served, also stale ones.',
    look: 'the log line `is unreachable` has the reason, `sent a response that cannot be used` the status of a gateway, which `/ready` calls reachable. Call its address from the host of the facade.',
    change: `the upstream, DNS, a firewall. The facade tries again by itself, at the latest after ${fixed.maxBreakerPauseMs / 1_000} s.`,
  },
  {
    name: 'CatalogUpstreamAnswers',
    title: 'An upstream sends something else',
    severity: 'ticket',
    expression: `${calls('{outcome="UPSTREAM_INVALID_RESPONSE"}')} / ${calls()} > 0.05 or ${unexpected} unless ${unexpected} offset 10m or increase(${unexpected}[10m]) > 0`,
    summary:
      'More than 5 % of the responses to {{ $labels.endpoint }} cannot be used, or have members that the interface has not.',
    means:
      'Responses are not what was requested (another format, no key, too large), or members are missing, unknown or of another type. If users see it, `CatalogErrors` fires too.',
    look: 'log lines `sent a response that cannot be used` or `that differs from the interface`.',
    change:
      'if all calls fail, `BASE_URL` leads to something else, such as a login page; if one endpoint does, the service has changed. A response that is too large fails so, too.',
  },
  {
    name: 'CatalogToken',
    title: 'The own token is refused',
    severity: 'page',
    expression: 'catalog_access_token_refused == 1',
    summary: '{{ $labels.service }} refuses the ACCESS_TOKEN of {{ $labels.instance }}.',
    means:
      'The token has expired, was revoked, or its key is blocked. Requests without a token get copies for up to an hour after their time, and `UNAUTHENTICATED` or `UPSTREAM_REFUSED` for the rest.',
    look: 'the log line `refuses ACCESS_TOKEN` has the code of the service; `npx catalog-graphql doctor`.',
    change: '[the token](operations.md#secrets-in-files).',
  },
  {
    name: 'CatalogQuota',
    title: 'The quota is nearly used up',
    severity: 'ticket',
    expression: `catalog_rate_limit_remaining / catalog_rate_limit < 0.1 or ${refusals} / (${refusals} + sum by (${OF}) (rate(catalog_upstream_calls_total[5m]))) > 0.05`,
    summary: 'The rate limit of upstream leaves few film calls to {{ $labels.instance }}, or calls were refused.',
    means:
      'Less than a tenth of the film calls of `ACCESS_TOKEN` is left, or more than 5 % of the calls were refused: `RATE_LIMITED`.',
    look: '`catalog_rate_limited_total` by endpoint; `catalog_cache_not_stored_total`, if the service forbids caching. Who calls: `/usage` by client (`USAGE`), `calls` by operation in the log (`REQUEST_LOG`).',
    change:
      '`REDIS_URL`, so that replicas share cache and limit; a longer `RECORD_TTL_SECONDS`; a higher film tier; `TRUSTED_PROXIES`, if all clients have one address.',
  },
  {
    name: 'CatalogOverload',
    title: 'Overload',
    severity: 'page',
    expression: 'rate(catalog_overloads_total[1m]) > 0',
    summary: '{{ $labels.instance }} rejects requests with 503.',
    means: 'All slots and the queue are taken, or there are too many connections.',
    look: '`catalog_operations_running` and `_waiting`: at their limits with little CPU, upstream is slow; with much, there are too few processes.',
    change: 'more replicas; `MAX_RUNNING_OPERATIONS` only if CPU is left.',
  },
  {
    name: 'CatalogErrors',
    title: 'Many errors of one code',
    severity: 'page',
    expression: `${codes(`{code=~"${FAULTS.join('|')}"}`)} / ${operations} > 0.05 or ${codes('')} / ${operations} > 0.5`,
    summary: 'Operations at {{ $labels.instance }} have many errors {{ $labels.code }}.',
    means:
      'In 100 operations there are more than 5 errors of a code that no client causes, or more than 50 of any code.',
    look: 'the [code](errors.md). `INTERNAL_SERVER_ERROR` is a defect: the log line with its `requestId` has the stack.',
    change: 'after a release, of a front end too: go back.',
  },
  {
    name: 'CatalogSlow',
    title: 'Slow operations',
    severity: 'ticket',
    expression: `histogram_quantile(0.99, sum by (${OF}, le) (rate(catalog_operation_seconds_bucket{type="query"}[5m]))) > 2.5`,
    summary: 'One query in a hundred at {{ $labels.instance }} takes longer than 2.5 s.',
    means: 'Users wait, although operations succeed.',
    look: '`catalog_upstream_seconds` by endpoint; log lines `slow operation` name the slowest call; `catalog_upstream_calls_waiting`.',
    change: 'the upstream; `MAX_CONNECTIONS`, if calls wait; `CALL_TIMEOUT_MS` to fail sooner.',
  },
  {
    name: 'CatalogEventLoop',
    title: 'The event loop is blocked',
    severity: 'ticket',
    expression: `nodejs_eventloop_lag_p99_seconds > 0.2 ${OF_FACADES}`,
    summary: 'The event loop of {{ $labels.instance }} is blocked for more than 0.2 s at a time.',
    means: 'The process has too little CPU, or does too much at once: every operation waits.',
    look: 'CPU against the limit of the container, `nodejs_gc_duration_seconds`, operations with many bytes in the request log.',
    change: 'more CPU or replicas; lower `MAX_RUNNING_OPERATIONS` or `MAX_RESPONSE_BYTES`.',
  },
  {
    name: 'CatalogMemory',
    title: 'Memory is near the limit',
    severity: 'page',
    expression: `process_resident_memory_bytes / on (${OF}) catalog_memory_limit_bytes > 0.9 or nodejs_heap_size_used_bytes / on (${OF}) catalog_heap_limit_bytes > 0.7`,
    summary: '{{ $labels.instance }} uses more than 90 % of its memory, or 70 % of its heap.',
    means: 'The system or V8 will end the process, and its requests are lost.',
    look: '`nodejs_heap_size_used_bytes`, `catalog_cache_bytes`, `catalog_unsent_bytes`, `catalog_held_upload_bytes`, `catalog_operations_running`.',
    change: 'more memory, or lower `MAX_RUNNING_OPERATIONS`. If it grows without load, restart it and report a leak.',
  },
  {
    name: 'CatalogRedisAway',
    title: 'Redis is away',
    severity: 'page',
    expression: 'catalog_redis_up == 0 or increase(catalog_redis_refusals[1m]) > 0',
    summary:
      'Redis ({{ $labels.setting }}{{ $labels.error }}) cannot be reached from {{ $labels.instance }}, or is slow, or refuses commands.',
    means:
      'Or it is slow, or refuses commands for a minute: `OOM` if it is full. Each replica caches only what nothing writes, and counts calls by itself. After a write, others may serve what it changed. Without that of the keys, writes with a key are refused: `IDEMPOTENCY_UNAVAILABLE`.',
    look: 'the log line `redis is unreachable`, or `redis of idempotency keys is unreachable`, has the reason: `no answer in time` is a Redis that is slow (`catalog_redis_late_replies_total`) or gone without a word, `TRYAGAIN` a slot of a cluster that is being moved; `catalog_redis_refusals`.',
    change: 'Redis, or the user in its setting. The facade connects again by itself.',
  },
  {
    name: 'CatalogReplica',
    title: 'A replica restarts or is away',
    severity: 'page',
    expression: `changes(process_start_time_seconds[10m]) > 1 ${OF_FACADES} or up == 0 and on (${OF}) max_over_time(catalog_build_info[1d])`,
    summary: '{{ $labels.instance }} cannot be scraped, or has started more than once within ten minutes.',
    means:
      'The process has ended, hangs, or ends by itself again and again: a defect, or the system has killed it. Two restarts of your own within ten minutes do it too.',
    look: 'the last lines of its log, the state of the container (`OOMKilled`), failed probes.',
    change: 'start it. If it was killed for memory, see [above](#memory-is-near-the-limit). After a release: go back.',
  },
];

/** The anchor of a heading, as Markdown has it. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** A file for `rule_files` of Prometheus. */
export function rulesYaml(): string {
  const rules = alerts.map(({ name, title, severity, expression, summary, means }) => ({
    alert: name,
    expr: expression,
    for: '1m',
    labels: { severity },
    annotations: {
      summary,
      description: means.replaceAll('`', ''),
      runbook: `docs/runbook.md#${anchorOf(title)}`,
    },
  }));
  const text = stringify({ groups: [{ name: 'catalog-graphql', rules }] }, { lineWidth: 0 });
  return `# Printed by "npm run codegen" from scripts/monitoring/alerts.ts; not edited by hand.\n${text}`;
}

/** A paragraph for each alert. */
export const runbookMarkdown = (): string =>
  alerts
    .map(
      ({ name, title, means, look, change }) =>
        `### ${title}\n\n\`${name}\`. ${means}\n**Look**: ${look}\n**Change**: ${change}`,
    )
    .join('\n\n');
