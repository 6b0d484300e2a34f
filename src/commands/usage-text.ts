/** `catalog-graphql usage`: which clients sent which operations, as /usage of a server says. */
import { printableLine } from '../lib/text/printable.ts';
import type { UsageReport } from '../server/features/usage/report.ts';
import { usageReportOf, usageTokenIn } from './usage-request.ts';

export interface UsageOptions {
  /** The file of the token. */
  tokenFile?: string | undefined;
  json?: boolean | undefined;
}

/** Throws a UserError. */
export async function runUsage(url: string, { tokenFile, json = false }: UsageOptions): Promise<string> {
  const report = await usageReportOf(url, usageTokenIn(tokenFile));
  return json ? `${JSON.stringify(report, null, 2)}\n` : printUsage(report);
}

/** A table, by operation; those that were last sent come first. */
export function printUsage({ since, until, operations }: UsageReport): string {
  const sorted = operations.toSorted((a, b) => a.name.localeCompare(b.name) || b.last.localeCompare(a.last));
  const rows = [
    ['operation', 'client', 'requests', 'calls', 'last'],
    ...sorted.map(({ name, client, version, requests, calls, last }) =>
      [name, `${client} ${version}`.trim(), String(requests), String(calls), last].map(printableLine),
    ),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = [
    `counted from ${since} to ${until}`,
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    ),
  ];
  return `${lines.join('\n')}\n`;
}
