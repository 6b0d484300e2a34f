import { isUtf8 } from 'node:buffer';

/** Detects text that would be replaced: decoders turn invalid UTF-8, and encoders lone surrogates, into U+FFFD. */

export const hasLoneSurrogate = (text: string): boolean => /\p{Surrogate}/u.test(text);

/** Whether the percent-encoded bytes of a query string or form are UTF-8. */
export function isPercentEncodedUtf8(text: string): boolean {
  for (const [run] of text.matchAll(/(?:%[89a-f][0-9a-f])+/gi)) if (percentDecoded(run) === undefined) return false;
  return true;
}

/** The text of percent-encoded UTF-8; undefined if it is malformed. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether some text part of a form was decoded with loss: the parser writes U+FFFD for invalid bytes. `form` is the raw form up to and
 * including these parts. A part with U+FFFD is intact only if `form` contains it in UTF-8.
 */
export function wereDecodedWithLoss(parts: readonly string[], form: () => Buffer, contentType: string): boolean {
  if (parts.some(hasLoneSurrogate)) return true;
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
