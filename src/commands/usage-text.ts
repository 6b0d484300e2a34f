/** `catalog-graphql usage`: which fields may be removed, and who reads the others, as /usage of a server says. */
import { printableLine } from '../lib/text/printable.ts';
import { type UsageReport, type UsedCoordinate, mergeReports } from '../server/features/usage/report.ts';
import { countedIn } from './usage-period.ts';
import { printReleases, readRelease } from './usage-releases.ts';
import { usageReportOf, usageTokenIn } from './usage-request.ts';

export interface UsageOptions {
  /** The file of the token. */
  tokenFile?: string | undefined;
  /** Manifests of trusted documents: then it is said of their documents who runs them, in place of fields. */
  manifest?: readonly string[] | undefined;
  /** A field that nobody read for as long may be removed. */
  days: number;
}

/** `urls`: of the replicas, whose reports are added up. Throws a UserError. */
export async function runUsage(urls: readonly string[], options: UsageOptions): Promise<string> {
  const { tokenFile, manifest = [], days } = options;
  const manifests = manifest.map(readRelease);
  const token = usageTokenIn(tokenFile);
  const report = mergeReports(await Promise.all(urls.map((url) => usageReportOf(url, token))));
  return manifests.length > 0 ? printReleases(report, manifests, days) : printUsage(report, days);
}

/** Deprecated fields first, then what nobody has ever read. */
export function printUsage(report: UsageReport, days: number): string {
  const { coordinates, unused } = report;
  const { lines, isLongEnough, isIdle } = countedIn(report, days);
  for (const { code, operation, client, version, requests, last } of report.refusals ?? [])
    lines.push(
      `${operation} of ${`${client} ${version}`.trim()} would be rejected: ${code}, ${requests} times, last ${last}`,
    );
  const verdict = (idle: boolean) =>
    !idle ? 'in use' : isLongEnough ? `safe to remove: nobody in ${days} days` : 'nobody yet';
  for (const each of coordinates.filter(({ deprecated }) => deprecated !== undefined))
    lines.push(`${each.coordinate} (deprecated): ${verdict(isIdle(each))}${readersOf(each)}`);
  for (const each of coordinates.filter((used) => used.deprecated === undefined && isIdle(used)))
    lines.push(`${each.coordinate}: ${verdict(true)}${readersOf(each)}`);
  for (const coordinate of unused) lines.push(`${coordinate}: ${verdict(true)}`);
  return `${lines.map(printableLine).join('\n')}\n`;
}

function readersOf({ requests, calls, last, clients, operations }: UsedCoordinate): string {
  if (requests === 0) return '';
  return `; read ${requests} times, last ${last}, ${calls} upstream calls; clients ${clients.join(', ')}; operations ${operations.join(', ')}`;
}
