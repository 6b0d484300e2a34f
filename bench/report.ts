/** Prints the results as Markdown tables for docs/speed.md. */

/** The results of a contestant in a workload at a latency: medians of its rounds, latencies over all of them. */
export interface Result {
  workload: string;
  latencyMs: number;
  contestant: string;
  perSecond: number;
  /** Medians of the ratios within each round. */
  ofLimit: number | undefined;
  ofApollo: number | undefined;
  /** The same for CPU time per operation, and the difference from the limit. */
  cpuOfLimit: number | undefined;
  extraCpu: number | undefined;
  /** The same for the p99 latency. */
  p99OfLimit: number | undefined;
  p50: number;
  p99: number;
  calls: number;
  kilobytes: number;
  /** CPU milliseconds per operation. */
  cpu: number;
  rss: number;
  operations: number;
}

export function tableOf(results: readonly Result[]): string {
  const head = [
    'workload',
    'who',
    'op/s',
    'x limit',
    'x Apollo',
    'p50 ms',
    'p99 ms',
    'calls/op',
    'KB/op',
    'CPU s/1k',
    'RSS MB',
  ];
  const rows = results.map((result) => [
    result.workload,
    result.contestant,
    result.perSecond.toFixed(0),
    ratio(result.ofLimit),
    ratio(result.ofApollo),
    result.p50.toFixed(2),
    result.p99.toFixed(2),
    result.calls.toFixed(1),
    result.kilobytes.toFixed(1),
    result.cpu.toFixed(3),
    result.rss.toFixed(0),
  ]);
  return markdown(head, rows);
}

/** The floors of the product: ratios to the limit and to Apollo, and calls. */
const musts: Record<string, { ofLimit: number; ofApollo: number; calls: number }> = {
  W1: { ofLimit: 0.7, ofApollo: 4.5, calls: 1 },
  W2: { ofLimit: 0.8, ofApollo: 3, calls: 21 },
  W3: { ofLimit: 1, ofApollo: 8, calls: 40 },
  W4: { ofLimit: 0.75, ofApollo: 4.5, calls: 1 },
  W5: { ofLimit: 0.6, ofApollo: 6, calls: 8 },
  // By CPU time, because operations this cheap are limited by the client.
  W6: { ofLimit: 0.8, ofApollo: 5, calls: 0 },
};
const P99_MOST = 1.2;
const P99_MOST_W3 = 1.8;

/** Compares the product with its floors. */
export function verdictOf(results: readonly Result[]): string {
  const rows: string[][] = [];
  const of = (workload: string, latencyMs: number, contestant: string) =>
    results.find((one) => one.workload === workload && one.latencyMs === latencyMs && one.contestant === contestant);
  const judge = (workload: string, figure: string, is: number, must: number, most: boolean, digits = 2) =>
    rows.push([
      workload,
      figure,
      `${most ? '<=' : '>='} ${must}`,
      is.toFixed(digits),
      (most ? is <= must : is >= must) ? 'yes' : 'NO',
    ]);

  for (const [workload, must] of Object.entries(musts)) {
    const product = of(workload, 0, 'product');
    if (product?.ofLimit) {
      if (workload === 'W6') judge(workload, 'x limit, by CPU', 1 / product.cpuOfLimit!, must.ofLimit, false);
      else judge(workload, 'x limit', product.ofLimit, must.ofLimit, false);
    }
    if (product?.ofApollo) judge(workload, 'x Apollo', product.ofApollo, must.ofApollo, false, 1);
    if (product) judge(workload, 'upstream calls', product.calls, must.calls + 0.05, true, 1);
    const slow = of(workload, 5, 'product');
    const most = workload === 'W3' ? P99_MOST_W3 : P99_MOST;
    if (slow?.p99OfLimit) judge(workload, 'p99 at 5 ms, x limit', slow.p99OfLimit, most, true);
  }
  return markdown(['workload', 'figure', 'must', 'is', 'reached'], rows);
}

const ratio = (value: number | undefined) => (value === undefined ? '' : value.toFixed(2));

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column < 2 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
