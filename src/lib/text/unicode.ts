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
 * including these parts. A part with U+FFFD is intact only if `form` has it in UTF-8, between the marks of a part.
 */
export function wereDecodedWithLoss(parts: readonly string[], form: () => Buffer): boolean {
  const isIn = (part: string) => form().includes(`\r\n\r\n${part}\r\n--`);
  return parts.some((part) => hasLoneSurrogate(part) || (part.includes('\ufffd') && !isIn(part)));
}
