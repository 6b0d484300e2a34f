/** What the doctor says: one line a check, and what to do. */
import { printable, printableLine } from '../lib/text/printable.ts';

export interface Diagnosis {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do; not of what is ok. */
  advice?: string;
}

export const ok = (check: string, message: string): Diagnosis => ({ check, status: 'ok', message });

const advising =
  (status: 'warning' | 'failed') =>
  (check: string, message: string, advice: string): Diagnosis => ({ check, status, message, advice });
export const warning = advising('warning');
export const failed = advising('failed');

/** What to do if no connection can be made, by the code of the error, if that says it. `tls`: the prefix of the settings of certificates. */
export function connectionAdvice(problem = '', variable: string, tls = variable): string | undefined {
  if (problem === 'CERT_HAS_EXPIRED')
    return 'Its certificate has expired: renew it at the service. Nothing on this side helps.';
  if (/VERIFY|SELF_SIGNED|ISSUER/.test(problem))
    return `Its certificate is signed by an authority that Node does not know: name that in ${tls}_CA.`;
  if (/ALTNAME/.test(problem))
    return `Its certificate is for another name: use the name of the certificate in ${variable}.`;
  if (/SSL|TLS|EPROTO/.test(problem))
    return `TLS failed: does ${variable} begin with the right scheme, and does the service want a client certificate (${tls}_CERT, ${tls}_KEY)?`;
  if (/ENOTFOUND|EAI_AGAIN/.test(problem))
    return `The name cannot be resolved: check ${variable} and the DNS of this machine.`;
  return undefined;
}

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
