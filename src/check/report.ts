/** Prints what a check found: for people, for programs, or as commands of GitHub's workflows. */
import { hintText } from '../engine/documents/hints.ts';
import type { CheckResult } from './check-operation.ts';
import type { Finding } from './finding.ts';
import { printableLine } from '../lib/text/printable.ts';
import type { StoredPrice } from './price-file.ts';

export interface Report {
  results: readonly PricedResult[];
  /** Findings about files, rather than about one operation. */
  findings: readonly Finding[];
  /** The most upstream calls of one operation. */
  maxCalls: number;
}

export interface PricedResult extends CheckResult {
  /** The name in the price file. */
  key: string;
  /** What the price file says. */
  before: StoredPrice | undefined;
}

export type ReportFormat = 'text' | 'json' | 'github';

export const printReport = (report: Report, format: ReportFormat): string =>
  format === 'json' ? jsonOf(report) : format === 'github' ? githubOf(report) : textOf(report);

const findingsOf = ({ results, findings }: Report): Finding[] => [
  ...findings,
  ...results.flatMap((result) => result.findings),
];

export const errorsIn = (report: Report): number =>
  findingsOf(report).filter(({ severity }) => severity === 'error').length;

function textOf(report: Report): string {
  const lines = report.findings.map((finding) => `${where(finding)}  ${sentence(finding)}`);
  for (const result of report.results) {
    const { operation, isValid, findings } = result;
    const { file, line } = operation.location;
    lines.push(`${isValid ? 'ok      ' : 'rejected'} ${printableLine(`${operation.name}  ${file}`)}:${line}`);
    const facts = [costText(result), requirementText(result)].filter(Boolean);
    if (facts.length > 0) lines.push(`         ${facts.join('; ')}`);
    for (const hint of result.hints) lines.push(`         cheaper: ${hintText(hint, report.maxCalls)}`);
    for (const finding of findings) lines.push(`  ${finding.severity}: ${where(finding)}  ${sentence(finding)}`);
  }
  return `${lines.join('\n')}\n${summary(report)}\n`;
}

const where = ({ location: { file, line } }: Finding): string => `${printableLine(file)}:${line}`;

const sentence = ({ code, coordinate, message }: Finding): string =>
  printableLine(
    `${coordinate === undefined || message.includes(coordinate) ? '' : `${coordinate}: `}${message} (${code})`,
  );

function costText({ cost, before }: PricedResult): string {
  if (!cost) return '';
  const { calls, items, values, dearest } = cost;
  const was = (now: number, then: number | undefined) => (then === undefined || then === now ? '' : ` (was ${then})`);
  const about = calls.least === calls.most ? '' : `, about ${calls.likely}`;
  const most = dearest ? `, most of them ${dearest.coordinate} (${dearest.calls})` : '';
  return [
    `calls ${calls.least}${was(calls.least, before?.least)} to ${calls.most}${was(calls.most, before?.most)}${about}${most}`,
    `items ${items}${was(items, before?.items)}`,
    `values ${values}${was(values, before?.values)}`,
  ].join(', ');
}

function requirementText({ requirements }: PricedResult): string {
  if (!requirements) return '';
  const { scopes, tiers, excluded, loginRequired } = requirements;
  const without = excluded.map(({ tier, coordinate, path }) => `${tier} not: ${coordinate} at ${path}`).join(', ');
  return [
    scopes.length > 0 ? `scopes ${scopes.map((list) => list.join(' or ')).join(', ')}` : '',
    tiers ? `film tiers ${tiers.join(', ') || 'none gets all of it'}${without && ` (${without})`}` : '',
    loginRequired ? 'the token of a person' : '',
  ]
    .filter(Boolean)
    .join('; ');
}

function summary(report: Report): string {
  const errors = errorsIn(report);
  const warnings = findingsOf(report).length - errors;
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
  return [count(report.results.length, 'operation'), count(errors, 'error'), count(warnings, 'warning')].join(', ');
}

const jsonOf = (report: Report): string =>
  `${JSON.stringify(
    {
      errors: errorsIn(report),
      findings: report.findings.map(shownFinding),
      operations: report.results.map(({ operation, isValid, cost, requirements, hints, before, findings }) => ({
        name: operation.name,
        ...operation.location,
        valid: isValid,
        ...(cost && { calls: cost.calls, items: cost.items, values: cost.values, mostExpensive: cost.dearest }),
        ...(before && { before }),
        ...requirements,
        hints,
        findings: findings.map(shownFinding),
      })),
    },
    null,
    2,
  )}\n`;

const shownFinding = ({ location, ...finding }: Finding): object => ({ ...finding, ...location });

/** `::error file=…,line=…,title=…::…`, escaped as GitHub's runners read it. */
function githubOf(report: Report): string {
  const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const line = (finding: Finding, name?: string) => {
    const { severity, code, location } = finding;
    const title = [name, finding.coordinate ?? code].filter(Boolean).join(': ');
    return `::${severity} file=${property(location.file)},line=${location.line},title=${property(title)}::${escaped(sentence(finding))}`;
  };
  const lines = [
    ...report.findings.map((finding) => line(finding)),
    ...report.results.flatMap(({ operation, findings }) => findings.map((finding) => line(finding, operation.name))),
  ];
  return [...lines, summary(report), ''].join('\n');
}
