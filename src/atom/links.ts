/** Which link of an entry is shown, and its address. */
import type { Links } from '../api/event.ts';

/** Values of `rel` of the links that are read. */
export const rels = ['self', 'alternate', 'icon', 'image', 'homepage', 'next'] as const satisfies (keyof Links)[];
type Rel = (typeof rels)[number];

/** The name of a relation may be written as an IRI, and in capitals. RFC 4287: it defaults to `alternate`. */
export function relOf(written = 'alternate'): Rel | undefined {
  return (
    named(written) ?? named(written.replace(/^https?:\/\/www\.iana\.org\/assignments\/relation\//i, '').toLowerCase())
  );
}
const named = (name: string): Rel | undefined => rels.find((rel) => rel === name);

/** Whether a link should be shown instead of an earlier one of the same relation: only http and https lead to a page. */
export function isBetterLink(href: string, before: string | undefined): boolean {
  return before === undefined || (!isWeb(before) && isWeb(href));
}

/** Whether an address is one of http or https, or relative. */
export const isWeb = (url: string): boolean => /^https?:/i.test(url) || !hasScheme(url);
export const hasScheme = (url: string): boolean => /^[a-z][a-z\d+.-]*:/i.test(url);

export const isHtml = (type: string | undefined): boolean =>
  type !== undefined && /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type);

/** A relative address, resolved by the base in its document. Others, and those that cannot be resolved, stay as they are. */
export function resolvedUrl(url: string, base: string | undefined): string;
export function resolvedUrl(url: string | undefined, base: string | undefined): string | undefined;
export function resolvedUrl(url: string | undefined, base: string | undefined): string | undefined {
  if (url === undefined) return base;
  if (base === undefined || url.startsWith('http') || hasScheme(url)) return url;
  return URL.canParse(url, base) ? new URL(url, base).href : url;
}
