/** `catalog-graphql usage`: which fields may be removed, and who reads the others, as /usage of a server says. */
import { readFileSync } from 'node:fs';
import { printableLine } from '../lib/text/printable.ts';
import { type UsageReport, type UsedCoordinate, mergeReports } from '../server/features/usage/report.ts';
import { UserError } from '../lib/user-error.ts';

export interface UsageOptions {
  /** The file of the token. */
  tokenFile?: string | undefined;
  /** A field that nobody read for as long may be removed. */
  days: number;
}

const DAY_MS = 86_400_000;

/** `urls`: of the replicas, whose reports are added up. Throws a UserError. */
export async function runUsage(urls: readonly string[], { tokenFile, days }: UsageOptions): Promise<string> {
  const token = tokenFile === undefined ? undefined : tokenIn(tokenFile);
  return printUsage(mergeReports(await Promise.all(urls.map((url) => reportOf(url, token)))), days);
}

function tokenIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UserError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function reportOf(url: string, token: string | undefined): Promise<UsageReport> {
  if (!URL.canParse(url)) throw new UserError(`${url} is no URL, such as http://localhost:4000.`);
  const address = `${url.replace(/(?:\/usage)?\/?$/, '')}/usage`;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let response: Response;
  try {
    // A redirect could lead the token elsewhere.
    response = await fetch(address, { headers, redirect: 'error' });
  } catch {
    throw new UserError(`${address} cannot be reached.`);
  }
  if (response.status === 401) throw new UserError(`${address} needs the token of USAGE_TOKEN: --token-file FILE.`);
  if (response.status === 404)
    throw new UserError(`${address} is not there: set USAGE=on, in production USAGE_TOKEN too.`);
  if (!response.ok) throw new UserError(`${address} responds with status ${response.status}.`);
  return (await response.json()) as UsageReport;
}

/** Deprecated fields first, then what nobody has ever read. */
export function printUsage(report: UsageReport, days: number): string {
  const { since, until, processes, requests, calls, unattributed, coordinates, unused } = report;
  const counted = (Date.parse(until) - Date.parse(since)) / DAY_MS;
  const isLongEnough = counted >= days;
  const lines = [
    `counted since ${since}, for ${counted.toFixed(1)} days, by ${processes} process${processes === 1 ? '' : 'es'}: ` +
      `${requests} operations, ${calls} upstream calls (${unattributed} of them of no field)`,
    ...(isLongEnough ? [] : [`too short to say what nobody reads in ${days} days`]),
  ];
  const isIdle = ({ last }: UsedCoordinate) => last === null || Date.parse(until) - Date.parse(last) > days * DAY_MS;
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
