type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels, amount?: number): void;
  /** The series of these labels, found once: for what is counted all the time. */
  of(labels: Labels): { add(amount?: number): void };
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
  of(labels: Labels): { observe(value: number): void };
}

export interface Metrics {
  counter(name: string, help: string): Counter;
  /** Read when it is asked for. */
  gauge(name: string, help: string, read: () => number): void;
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  /** The Prometheus text format. */
  text(): string;
}

/** A new series past this is dropped: a label that a client could choose must not fill the memory. */
const MAX_SERIES = 500;

/** A registry in a page of code: the three kinds we need, and the text that Prometheus reads. */
export function createMetrics(): Metrics {
  const writers: (() => string[])[] = [];

  const family = (name: string, help: string, type: string, lines: () => string[]) =>
    writers.push(() => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()]);

  return {
    counter(name, help) {
      const series = new Map<string, { written: string; value: number }>();
      family(name, help, 'counter', () =>
        [...series.values()].map(({ written, value }) => `${name}${written} ${value}`),
      );
      const seriesOf = found(series, (labels) => ({ written: written(labels), value: 0 }));
      return {
        add(labels = {}, amount = 1) {
          seriesOf(labels).value += amount;
        },
        of(labels) {
          const one = seriesOf(labels);
          return { add: (amount = 1) => void (one.value += amount) };
        },
      };
    },
    gauge(name, help, read) {
      family(name, help, 'gauge', () => [`${name} ${read()}`]);
    },
    histogram(name, help, bounds) {
      const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
      family(name, help, 'histogram', () =>
        [...series.values()].flatMap(({ labels, counts, sum, count }) => [
          ...bounds.map((bound, i) => `${name}_bucket${written({ ...labels, le: String(bound) })} ${upTo(counts, i)}`),
          `${name}_bucket${written({ ...labels, le: '+Inf' })} ${count}`,
          `${name}_sum${written(labels)} ${sum}`,
          `${name}_count${written(labels)} ${count}`,
        ]),
      );
      const seriesOf = found(series, (labels) => ({ labels, counts: bounds.map(() => 0), sum: 0, count: 0 }));
      const observed = (one: { counts: number[]; sum: number; count: number }, value: number) => {
        one.sum += value;
        one.count++;
        for (let i = 0; i < bounds.length; i++) {
          if (value > bounds[i]!) continue;
          one.counts[i]!++;
          return;
        }
      };
      return {
        observe: (value, labels = {}) => observed(seriesOf(labels), value),
        of(labels) {
          const one = seriesOf(labels);
          return { observe: (value) => observed(one, value) };
        },
      };
    },
    text: () => `${writers.flatMap((write) => write()).join('\n')}\n`,
  };
}

/** The series of these labels, made on first sight; past the bound one that nobody reads. */
function found<Series>(series: Map<string, Series>, make: (labels: Labels) => Series): (labels: Labels) => Series {
  return (labels) => {
    const key = keyOf(labels);
    let one = series.get(key);
    if (!one) {
      one = make(labels);
      if (series.size < MAX_SERIES) series.set(key, one);
    }
    return one;
  };
}

/** A bucket of Prometheus holds what the smaller ones hold too. */
const upTo = (counts: readonly number[], last: number): number =>
  counts.slice(0, last + 1).reduce((sum, count) => sum + count, 0);

/** A family is always counted by the same labels, so their values tell its series apart. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\n`;
  return key;
}

function written(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
