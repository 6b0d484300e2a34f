import { isUtf8 } from 'node:buffer';

/** Whether text is what was sent: decoders put U+FFFD in the place of bytes that are not UTF-8, encoders in that of half a surrogate pair. */

export const hasHalfPair = (text: string): boolean => /\p{Surrogate}/u.test(text);

/** Whether what is percent-encoded in a query string or form is UTF-8. */
export function isPercentEncodedUtf8(text: string): boolean {
  for (const [run] of text.matchAll(/(?:%[89a-f][0-9a-f])+/gi)) {
    try {
      decodeURIComponent(run);
    } catch {
      return false;
    }
  }
  return true;
}

/**
 * Whether text parts of a form are not what was sent: what could not be decoded is U+FFFD in them. `form` is its bytes up to and with
 * these parts; a part with U+FFFD must be among them, in UTF-8.
 */
export function areMisread(parts: readonly string[], form: () => Buffer, contentType: string): boolean {
  if (parts.some(hasHalfPair)) return true;
  const doubtful = parts.filter((part) => part.includes('\ufffd'));
  if (doubtful.length === 0) return false;
  const sent = new Set([...contentsOf(form(), contentType)].filter((bytes) => isUtf8(bytes)).map(String));
  return doubtful.some((part) => !sent.has(part));
}

function* contentsOf(form: Buffer, contentType: string): Generator<Buffer> {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? [];
  const mark = `--${quoted ?? bare ?? ''}`;
  for (let at = form.indexOf(mark); at >= 0;) {
    const headEnd = form.indexOf('\r\n\r\n', at);
    const end = headEnd < 0 ? -1 : form.indexOf(`\r\n${mark}`, headEnd + 2);
    if (end >= headEnd + 4) yield form.subarray(headEnd + 4, end);
    at = end;
  }
}
