/** The time zone of the service is +08:00, and its timestamps have no zone. Not specified: the zone; taken from the real service. */
const OFFSET_MS = 8 * 3600_000;

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** `2018-04-12 20:01:17` */
export function timestamp(ms: number = Date.now()): string {
  return new Date(ms + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** `2018-04-12T20:01:17+08:00`, as in events. */
export function zonedTimestamp(ms: number): string {
  return `${timestamp(ms).replace(' ', 'T')}+08:00`;
}

/** Milliseconds since 1970 of an RFC 3339 timestamp; null if the text is not one. */
export function instantOf(text: string): number | null {
  if (!rfc3339.test(text)) return null;
  const ms = Date.parse(text.replace(' ', 'T'));
  if (Number.isNaN(ms)) return null;
  // Date.parse reads 30 February as 1 March.
  const day = Number(text.slice(8, 10));
  const month = Number(text.slice(5, 7));
  return day <= new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate() ? ms : null;
}
