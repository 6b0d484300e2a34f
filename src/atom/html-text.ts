/** The plain text of an Atom text of `type="html"`, with the same line breaks as of XHTML. */
import { createRequire } from 'node:module';
import type * as Entities from 'entities';
import { lazily } from '../lib/promises.ts';
import { textInside, withBreaks } from './line-breaks.ts';
import { trim, writableText } from './xml.ts';

/** Loaded with the first such text that has a reference, because most processes never need it. */
const withEntities = lazily(() => createRequire(import.meta.url)('entities') as typeof Entities);

/** What is never closed is dropped to the end, as browsers do. */
const PARTS = new RegExp(
  [
    /&[#\w]+;?/, // a reference
    /<!--[^]*?(?:-->|$)/,
    /<[!?][^>]*>?/,
    /<(script|style)(?=[\s/>])[^]*?(?=<\/\1|$)/, // their content is no text
    /<\/?([a-z][^\s/>]*)(?:[\s/](?:=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$))|[^>])*)?>?/, // a tag, whose quoted values may have a `>`
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);

export function textOfHtml(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const text = html.replace(PARTS, (part, _, tag: string = '') =>
    // A reference may be to a character that marks breaks.
    part.startsWith('&') ? writableText(withEntities().decodeHTML(part)) : textInside(tag, ''),
  );
  return trim(withBreaks(text));
}
