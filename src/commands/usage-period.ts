/** What the counts of a report cover, and what is idle in it. */
import type { Count, UsageReport } from '../server/features/usage/report.ts';

const DAY_MS = 86_400_000;

/** `days`: what nobody used for as long is idle. The lines say what was counted, and whether that is long enough to tell. */
export function countedIn({ since, until, processes, requests, calls, unattributed }: UsageReport, days: number) {
  const counted = (Date.parse(until) - Date.parse(since)) / DAY_MS;
  const isLongEnough = counted >= days;
  const lines = [
    `counted since ${since}, for ${counted.toFixed(1)} days, by ${processes} process${processes === 1 ? '' : 'es'}: ` +
      `${requests} operations, ${calls} upstream calls (${unattributed} of them of no field)`,
    ...(isLongEnough ? [] : [`too short to say what nobody reads in ${days} days`]),
  ];
  const isIdle = ({ last }: Pick<Count, 'last'>): boolean =>
    last === null || Date.parse(until) - Date.parse(last) > days * DAY_MS;
  return { lines, isLongEnough, isIdle };
}
