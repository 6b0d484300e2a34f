/** Times of ISO 8601, a day of the month with hours and minutes, written as RFC 3339. */

/** The zone of the times that the service writes without one. */
export const LOCAL_ZONE = '+08:00';

/** Java reads offsets up to 18 hours. */
const zonedForm =
  /^(\d{4})(-?)(\d{2})\2(\d{2})[T ](\d{2}):?([0-5]\d)(?::?([0-5]\d|60)(?:[.,](\d+))?)? ?(?:(Z)|([+\-\u2212])(0\d|1[0-7]|18(?=(?::?00)?$))(?::?([0-5]\d))?)$/i;

/** RFC 3339 on a day that each month has: nothing is to compute. */
const sureForm =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:Z|[+-](?:0\d|1[0-7]):[0-5]\d)$/;

/** The time as RFC 3339, with the offset that it has; null for anything but a day and a time with an offset. */
export function rfc3339Of(text: string): string | null {
  if (sureForm.test(text)) return text;
  const [whole, year, , month, date, hours, minutes, seconds = '0', fraction = '', zulu, sign, ahead, more = '00'] =
    zonedForm.exec(text) ?? [];
  const day = new Date(`${year}-${month}-${date}T00:00Z`);
  if (whole === undefined || day.getUTCDate() !== Number(date)) return null;
  const isEnd = hours === '24' && Number(minutes) + Number(seconds) + Number(fraction) === 0;
  if (Number(hours) > 23 && !isEnd) return null;
  // The end of a day is the beginning of the next one, and so is a leap second.
  day.setUTCHours(Number(hours), Number(minutes), Number(seconds));
  const stamp = day.toISOString().slice(0, 19);
  const zone = zulu ?? `${sign === '+' ? '+' : '-'}${ahead}:${more}`;
  return /^\d{4}-/.test(stamp) ? `${stamp}${fraction && `.${fraction}`}${zone}` : null;
}

/**
 * The one form of RFC 3339 that clients get and the service is sent: whole seconds, `T` and `Z` in upper case. Formatters of mobile platforms
 * read either fractions or none.
 */
export const wholeSeconds = (stamp: string): string =>
  `${stamp.slice(0, 10)}T${stamp.slice(11, 19)}${stamp.toUpperCase().replace(/^.{19}(?:\.\d+)?/, '')}`;

const LOCAL_ZONE_MS = 8 * 3_600_000;

/** A time with an offset as the service writes it, without. */
export const inZone = (stamp: string): string => new Date(Date.parse(stamp) + LOCAL_ZONE_MS).toISOString().slice(0, 19);
