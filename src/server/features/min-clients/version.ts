/** Versions of clients: numbers with dots between them, compared part by part. */

/** The numbers at the start of a version, as texts without leading zeros: `5.10` of `v5.10-beta.2 (731)`. Undefined if there are none. */
export function versionParts(version: string): readonly string[] | undefined {
  const [, numbers] = /^\s*v?(\d{1,20}(?:\.\d{1,20}){0,9})/i.exec(version) ?? [];
  return numbers?.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
}

/** Whether a version is below another; a part that is missing is 0. */
export function isBelow(version: readonly string[], least: readonly string[]): boolean {
  for (let at = 0; at < Math.max(version.length, least.length); at++) {
    const [part, other] = [version[at] ?? '0', least[at] ?? '0'];
    if (part !== other) return part.length === other.length ? part < other : part.length < other.length;
  }
  return false;
}
