type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels, amount?: number): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
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
      const series = new Map<string, { labels: string; value: number }>();
      family(name, help, 'counter', () => [...series.values()].map(({ labels, value }) => `${name}${labels} ${value}`));
      return {
        add(labels = {}, amount = 1) {
          const key = keyOf(labels);
          const known = series.get(key);
          if (known) known.value += amount;
          else if (series.size < MAX_SERIES) series.set(key, { labels: written(labels), value: amount });
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
          ...bounds.map((bound, i) => `${name}_bucket${written({ ...labels, le: String(bound) })} ${counts[i]}`),
          `${name}_bucket${written({ ...labels, le: '+Inf' })} ${count}`,
          `${name}_sum${written(labels)} ${sum}`,
          `${name}_count${written(labels)} ${count}`,
        ]),
      );
      return {
        observe(value, labels = {}) {
          const key = keyOf(labels);
          let entry = series.get(key);
          if (!entry) {
            if (series.size >= MAX_SERIES) return;
            entry = { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
            series.set(key, entry);
          }
          entry.sum += value;
          entry.count += 1;
          for (let i = 0; i < bounds.length; i++)
            if (value <= (bounds[i] ?? 0)) entry.counts[i] = (entry.counts[i] ?? 0) + 1;
        },
      };
    },
    text: () => `${writers.flatMap((write) => write()).join('\n')}\n`,
  };
}

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
