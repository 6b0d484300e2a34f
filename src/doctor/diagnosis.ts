/** What the doctor says: one line a check, and what to do. */
import { printable, printableLine } from '../lib/text/printable.ts';

export interface Diagnosis {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do; not of what is ok. */
  advice?: string;
  /** For programs: the numbers and names in the message. */
  details?: Readonly<Record<string, unknown>>;
}

export const ok = (check: string, message: string, details?: Diagnosis['details']): Diagnosis => ({
  check,
  status: 'ok',
  message,
  ...(details && { details }),
});

const advising =
  (status: 'warning' | 'failed') =>
  (check: string, message: string, advice: string, details?: Diagnosis['details']): Diagnosis => ({
    check,
    status,
    message,
    advice,
    ...(details && { details }),
  });
export const warning = advising('warning');
export const failed = advising('failed');

const hasFailed = (all: readonly Diagnosis[]): boolean => all.some(({ status }) => status === 'failed');

/** A warning is no failure. */
export const exitCodeOf = (all: readonly Diagnosis[]): number => (hasFailed(all) ? 1 : 0);

export const diagnosesJson = (all: readonly Diagnosis[]): string =>
  printable(JSON.stringify({ ok: !hasFailed(all), checks: all }, null, 2));

export function diagnosesText(all: readonly Diagnosis[]): string {
  const width = Math.max(...all.map(({ check }) => check.length));
  const lines = all.map(({ check, status, message, advice }) => {
    const line = printableLine(`${status.padEnd(8)} ${check.padEnd(width)}  ${message}`);
    return advice === undefined ? line : `${line}\n${' '.repeat(width + 11)}-> ${printableLine(advice)}`;
  });
  const count = (status: Diagnosis['status']) => all.filter((each) => each.status === status).length;
  const warnings = count('warning');
  const warned = `${warnings} warning${warnings === 1 ? '' : 's'}`;
  return [...lines, '', `${count('ok')} ok, ${warned}, ${count('failed')} failed`].join('\n');
}
