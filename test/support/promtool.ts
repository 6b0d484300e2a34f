/** Series recorded from /metrics, and what `promtool` makes of them with the rules. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Values by series, one for each scrape; undefined where a scrape had none. */
export type Recording = Map<string, (string | undefined)[]>;

/** The time between two scrapes as the rules see it, whatever it was. */
const INTERVAL_SECONDS = 15;

/** Scrapes so often; `between` runs before each scrape but the first. `url` may change, if the program starts again. */
export async function record(
  url: () => string,
  scrapes: number,
  between: (index: number) => unknown,
): Promise<Recording> {
  const series: Recording = new Map();
  for (let index = 0; index < scrapes; index++) {
    if (index > 0) await between(index);
    const text = await (await fetch(`${url()}/metrics`)).text();
    for (const [, name, labels = '', value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
      const id = `${name}{${[...(labels ? [labels] : []), 'instance="a:1"', 'job="catalog"'].join(', ')}}`;
      let values = series.get(id);
      if (!values) series.set(id, (values = Array.from({ length: scrapes }, () => undefined)));
      values[index] = value;
    }
  }
  return series;
}

/** The alerts that fire after this time. */
export const firingAfter = (recording: Recording, seconds: number): Promise<string[]> =>
  alertsIn(recording, 'ALERTS{alertstate="firing"}', seconds);

/** The alerts that fire at any time until the last scrape. */
export function everFiring(recording: Recording): Promise<string[]> {
  const seconds = INTERVAL_SECONDS * (Math.max(...[...recording.values()].map(({ length }) => length)) - 1);
  return alertsIn(recording, `max_over_time(ALERTS{alertstate="firing"}[${seconds}s])`, seconds);
}

/** promtool is told to expect nothing, and says what it found instead. */
async function alertsIn(recording: Recording, expression: string, seconds: number): Promise<string[]> {
  const input = [...recording].map(([series, values]) => ({
    series,
    values: values.map((value) => value ?? '_').join(' '),
  }));
  const promql = [{ expr: expression, eval_time: `${seconds}s`, exp_samples: [] }];
  const interval = `${INTERVAL_SECONDS}s`;
  const output = await promtool(['test', 'rules'], {
    rule_files: [resolve('deploy/prometheus/rules.yaml')],
    evaluation_interval: interval,
    tests: [{ interval, input_series: input, promql_expr_test: promql }],
  });
  const names = [...output.matchAll(/alertname=\\?"(\w+)/g)].map(([, name]) => name!);
  if (names.length === 0 && !output.includes('SUCCESS')) throw new Error(output);
  return [...new Set(names)].sort();
}

/** What it prints, also if it fails. */
export function promtool(command: readonly string[], file: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-promtool-'));
  const path = join(folder, 'input.yaml');
  writeFileSync(path, JSON.stringify(file)); // which is YAML
  return new Promise((found) => {
    execFile('promtool', [...command, path], { maxBuffer: 10_000_000 }, (_, out, err) => {
      rmSync(folder, { recursive: true, force: true });
      found(out + err);
    });
  });
}
