/** Times as ISO 8601 allows them, written as RFC 3339. */

/** The zone of the times that the service writes without one. */
export const LOCAL_ZONE = '+08:00';

const dayForms = [/^(\d{4})-(\d{2})-(\d{2})$/, /^(\d{4})(\d{2})(\d{2})$/];
const ordinalForm = /^(\d{4})-?(\d{3})$/;
const weekForm = /^(\d{4})-?W(\d{2})-?([1-7])$/;
const zonedForm =
  /^([\dW-]{7,10})[T ](\d{2})(?::?([0-5]\d)(?::?([0-5]\d|60))?)?(?:[.,](\d+))? ?(?:(Z)|([+\-\u2212])([01]\d|2[0-3])(?::?([0-5]\d))?)$/i;

/** RFC 3339 on a day that each month has: nothing is to compute. */
const sureForm =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const DAY_MS = 86_400_000;

/** The time as RFC 3339, with the offset that it has; null for anything but a time with an offset. */
export function rfc3339Of(text: string): string | null {
  if (sureForm.test(text)) return text;
  const [, day = '', hours, minutes, seconds, fraction, zulu, sign, ...offset] = zonedForm.exec(text) ?? [];
  const start = startOf(day);
  if (start === null || hours === undefined) return null;
  const isEnd = hours === '24' && Number(minutes ?? 0) + Number(seconds ?? 0) + Number(fraction ?? 0) === 0;
  if (Number(hours) > 23 && !isEnd) return null;
  // A fraction is of the last part that is written.
  const part = minutes === undefined ? 3_600_000 : 60_000;
  const restMs = seconds === undefined ? Math.round(Number(`0.${fraction ?? 0}`) * part) : 0;
  const time = start + ((Number(hours) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1000;
  // The end of a day is the beginning of the next one, and so is a leap second.
  const stamp = new Date(time + restMs).toISOString().slice(0, 19);
  const ofSecond = seconds === undefined ? String((restMs % 1000) / 1000).slice(2) : (fraction ?? '');
  const [ahead = '00', more = '00'] = offset;
  const zone = zulu ?? `${sign === '+' ? '+' : '-'}${ahead}:${more}`;
  return /^\d{4}-/.test(stamp) ? `${stamp}${ofSecond && `.${ofSecond}`}${zone}` : null;
}

/** Java reads offsets up to 18 hours. */
const OFFSET_MAX_MINUTES = 18 * 60;
/** What `wholeSeconds` would not change. */
const usualForm = /^.{10}T.{8}(?:Z|[+-](?:0\d|1[0-7]):\d\d)$/;

/**
 * The one form of RFC 3339 that clients get and the service is sent: whole seconds, `T` and `Z` in upper case. Formatters of mobile platforms
 * read either fractions or none.
 */
export function wholeSeconds(stamp: string): string {
  if (usualForm.test(stamp)) return stamp;
  const whole = `${stamp.slice(0, 10)}T${stamp.slice(11, 19)}`;
  const zone = stamp.toUpperCase().replace(/^.{19}(?:\.\d+)?/, '');
  if (zone === 'Z' || Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)) <= OFFSET_MAX_MINUTES) return whole + zone;
  return `${new Date(whole + zone).toISOString().slice(0, 19)}Z`;
}

const LOCAL_ZONE_MS = 8 * 3_600_000;

/** A time of the service with its offset. */
export const withZone = (local: string): string => `${local}${LOCAL_ZONE}`;

/** A time with an offset as the service writes it, without. */
export const inZone = (stamp: string): string => new Date(Date.parse(stamp) + LOCAL_ZONE_MS).toISOString().slice(0, 19);

/** When a day begins, as if it were in UTC; null if there is no such day. */
function startOf(day: string): number | null {
  for (const form of dayForms) {
    const [, year, month, date] = form.exec(day) ?? [];
    if (year === undefined) continue;
    const start = startOfYear(year, Number(month) - 1, Number(date));
    return new Date(start).getUTCDate() === Number(date) && Number(month) <= 12 ? start : null;
  }
  const [, year, number] = ordinalForm.exec(day) ?? [];
  if (year !== undefined) {
    const start = startOfYear(year, 0, Number(number));
    return number !== '000' && new Date(start).getUTCFullYear() === Number(year) ? start : null;
  }
  const [, weekYear, week, weekday] = weekForm.exec(day) ?? [];
  if (weekYear === undefined) return null;
  // Week 1 has the 4th of January; weeks begin on Monday.
  const fourth = startOfYear(weekYear, 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS;
  const start = monday + ((Number(week) - 1) * 7 + Number(weekday) - 1) * DAY_MS;
  const thursday = new Date(start + (4 - Number(weekday)) * DAY_MS);
  return week !== '00' && thursday.getUTCFullYear() === Number(weekYear) ? start : null;
}

/** `Date.UTC` takes years below 100 for those of the 20th century. */
const startOfYear = (year: string, month: number, date: number): number =>
  new Date(Date.UTC(2000, month, 1)).setUTCFullYear(Number(year), month, date);
