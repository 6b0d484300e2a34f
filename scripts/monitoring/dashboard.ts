/** The dashboard of Grafana. */

interface Panel {
  title: string;
  unit?: string;
  /** Queries by their legends. */
  queries: Record<string, string>;
}

/** What the variables of the dashboard choose. */
const ON = '{job=~"$job", instance=~"$instance"}';
const rate = (metric: string, by = '') =>
  `sum${by && ` by (${by}) `}(rate(${metric.includes('{') ? metric : metric + ON}[$__rate_interval]))`;
const quantile = (share: number, histogram: string, by = '') =>
  `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, by ? `le, ${by}` : 'le')})`;
const sum = (metric: string, by = 'instance') => `sum by (${by}) (${metric}${ON})`;

/** Rows of panels, three to a line. */
export const rows: Readonly<Record<string, readonly Panel[]>> = {
  Clients: [
    {
      title: 'HTTP requests',
      unit: 'reqps',
      queries: { '{{path}} {{status}}': rate('catalog_requests_total', 'path, status') },
    },
    {
      title: 'Operations',
      unit: 'ops',
      queries: { '{{type}} {{outcome}}': rate('catalog_operations_total', 'type, outcome') },
    },
    {
      title: 'Time of an operation, p99',
      unit: 's',
      queries: { '{{type}}': quantile(0.99, 'catalog_operation_seconds', 'type') },
    },
    { title: 'Errors', unit: 'ops', queries: { '{{code}}': rate('catalog_errors_total', 'code') } },
    {
      title: 'Slowest known operations, p95',
      unit: 's',
      queries: {
        '{{operation}}': `topk(10, ${quantile(0.95, 'catalog_named_operation_duration_seconds', 'operation')})`,
      },
    },
    {
      title: 'Known operations',
      unit: 'ops',
      queries: { '{{operation}}': `topk(10, ${rate('catalog_named_operations_total', 'operation')})` },
    },
  ],
  Load: [
    {
      title: 'Operations at once',
      queries: {
        'running {{instance}}': sum('catalog_operations_running'),
        'waiting {{instance}}': sum('catalog_operations_waiting'),
      },
    },
    {
      title: 'Overload',
      unit: 'reqps',
      queries: {
        rejected: rate('catalog_overloads_total'),
        'closed, not read': rate('catalog_unread_connections_total'),
      },
    },
    {
      title: 'Requests',
      queries: { '{{instance}}': sum('catalog_requests_running') },
    },
    { title: 'Unsent responses', unit: 'bytes', queries: { '{{instance}}': sum('catalog_unsent_bytes') } },
  ],
  Upstream: [
    {
      title: 'Reachable',
      queries: {
        '{{service}}': `min by (service) (catalog_upstream_up${ON})`,
        'refuses the own token: {{service}}': `max by (service) (catalog_access_token_refused${ON})`,
      },
    },
    {
      title: 'Calls',
      unit: 'reqps',
      queries: { '{{service}} {{outcome}}': rate('catalog_upstream_calls_total', 'service, outcome') },
    },
    {
      title: 'Slowest endpoints, p95',
      unit: 's',
      queries: { '{{endpoint}}': `topk(10, ${quantile(0.95, 'catalog_upstream_seconds', 'endpoint')})` },
    },
    {
      title: 'Calls at once',
      queries: {
        'running {{service}}': sum('catalog_upstream_calls_running', 'service'),
        'waiting {{service}}': sum('catalog_upstream_calls_waiting', 'service'),
      },
    },
    {
      title: 'Quota of the own token',
      queries: { left: `min(catalog_rate_limit_remaining${ON})`, limit: `max(catalog_rate_limit${ON})` },
    },
    {
      title: 'Calls refused by the rate limit',
      unit: 'reqps',
      queries: { '{{endpoint}}': rate('catalog_rate_limited_total', 'endpoint') },
    },
  ],
  Cache: [
    {
      title: 'Calls saved',
      unit: 'reqps',
      queries: {
        'records {{how}}': rate('catalog_cache_hits_total', 'how'),
        'whole responses': rate('catalog_response_cache_hits_total'),
      },
    },
    { title: 'Bytes in memory', unit: 'bytes', queries: { '{{instance}}': sum('catalog_cache_bytes') } },
    {
      title: 'Redis',
      queries: {
        'up {{instance}} {{setting}}': sum('catalog_redis_up', 'instance, setting'),
        'unsent {{instance}}': sum('catalog_redis_invalidations_unsent'),
      },
    },
    { title: 'Late replies of Redis', queries: { '{{calls}}': rate('catalog_redis_late_replies_total', 'calls') } },
    { title: 'Commands refused by Redis', queries: { '{{error}}': sum('catalog_redis_refusals', 'error') } },
  ],
  Process: [
    {
      title: 'Memory',
      unit: 'bytes',
      queries: {
        'resident {{instance}}': sum('process_resident_memory_bytes'),
        'heap {{instance}}': sum('nodejs_heap_size_used_bytes'),
        'limit {{instance}}': sum('catalog_memory_limit_bytes'),
        'heap limit {{instance}}': sum('catalog_heap_limit_bytes'),
      },
    },
    { title: 'CPU', unit: 'percentunit', queries: { '{{instance}}': rate('process_cpu_seconds_total', 'instance') } },
    { title: 'Event loop, p99', unit: 's', queries: { '{{instance}}': sum('nodejs_eventloop_lag_p99_seconds') } },
    {
      title: 'Garbage collection',
      unit: 'percentunit',
      queries: { '{{kind}}': rate('nodejs_gc_duration_seconds_sum', 'kind') },
    },
    { title: 'Versions', queries: { '{{version}}': `count by (version) (catalog_build_info${ON})` } },
    {
      title: 'Starts',
      queries: { '{{instance}}': `changes(process_start_time_seconds${ON}[1h])` },
    },
  ],
};

const WIDTH = 24;
const HEIGHT = 7;
const datasource = { type: 'prometheus', uid: '${datasource}' };

export const dashboardQueries = (): string[] =>
  Object.values(rows).flatMap((panels) => panels.flatMap(({ queries }) => Object.values(queries)));

export function dashboardJson(): string {
  let id = 0;
  let y = 0;
  const panels = Object.entries(rows).flatMap(([title, row]) => {
    const heading = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
    };
    const from = y;
    y += Math.ceil(row.length / 3) * HEIGHT;
    const place = (index: number) => ({
      x: (index % 3) * (WIDTH / 3),
      y: from + Math.floor(index / 3) * HEIGHT,
      w: WIDTH / 3,
      h: HEIGHT,
    });
    return [heading, ...row.map((panel, index) => ({ id: ++id, ...timeSeries(panel), gridPos: place(index) }))];
  });
  const dashboard = {
    title: 'catalog-graphql',
    uid: 'catalog-graphql',
    tags: ['catalog-graphql'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        variable('job', 'label_values(catalog_build_info, job)'),
        variable('instance', 'label_values(catalog_build_info{job=~"$job"}, instance)'),
      ],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

const timeSeries = ({ title, unit = 'short', queries }: Panel) => ({
  type: 'timeseries',
  title,
  datasource,
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: {
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
    refId: String.fromCharCode(65 + index),
    datasource,
    expr,
    legendFormat,
  })),
});

const variable = (name: string, query: string) => ({
  name,
  type: 'query',
  datasource,
  query,
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
});
