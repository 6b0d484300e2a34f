/** The forms of RFC 9110, and that of ISO 8601. A list may follow: the first date counts. */
const DATE =
  /^"?((?:[a-z]{3,9},? )?(?:\d\d?(?: [a-z]{3} \d{4}|-[a-z]{3}-(?:\d\d){1,2}) \d\d:\d\d:\d\d|[a-z]{3} {1,2}\d\d? \d\d:\d\d:\d\d \d{4}|\d{4}-\d\d-\d\d[ t]\d\d:\d\d:\d\d(?:\.\d+)?)(?: ?(gmt|utc?|z|[+-]\d\d:?\d\d))?)"?(?:,|$)/i;

/** The time in ms of a date in a header; undefined if it is none. Without a zone it is in GMT, whatever that of this machine is. */
export function httpTime(header = ''): number | undefined {
  const [, written = '', zone] = DATE.exec(header.trim()) ?? [];
  const text = written.replace(/(?<=[a-z]-)\d\d /i, (digits) => `${yearOf(Number(digits))} `);
  const time = Date.parse(zone === undefined ? `${text} GMT` : text);
  return Number.isNaN(time) ? undefined : time;
}

/** The year of two digits: the last with them that is at most 50 years ahead (RFC 9110, 5.6.7). */
function yearOf(digits: number): number {
  const last = new Date().getUTCFullYear() + 50;
  return last - ((last - digits) % 100);
}
