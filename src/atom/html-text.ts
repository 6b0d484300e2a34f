/** The plain text of an Atom text of `type="html"`, with the same line breaks as of XHTML. */
import { createRequire } from 'node:module';
import type * as Entities from 'entities';
import { lazily } from '../lib/promises.ts';
import { textInside, withBreaks } from './line-breaks.ts';
import { trim, writableText } from './xml.ts';

/** Loaded with the first such text that has a reference, because most processes never need it. */
const withEntities = lazily(() => {
  const { decodeHTML } = createRequire(import.meta.url)('entities') as typeof Entities;
  return { decode: (html: string) => decodeHTML(html) };
});

export function textOfHtml(html: string): string {
  if (!/[<&]/.test(html)) return html;
  let whole = '';
  let at = 0;
  while (at < html.length) {
    const found = html.indexOf('<', at);
    const start = found === -1 ? html.length : found;
    whole += decoded(html.slice(at, start));
    const tag = /^<\/?([a-z][^\s/>]*)/i.exec(html.slice(start, start + NAME_MAX));
    if (tag) {
      const name = tag[1]!.toLowerCase();
      whole += textInside(name, '');
      at = endOfTag(html, start + tag[0].length);
      if (Object.hasOwn(unseen, name) && html[start + 1] !== '/') at = startOf(unseen[name]!, html, at);
    } else if (html.startsWith('<!--', start)) at = endOf(html, '-->', start + 4);
    else if (/^<[!?]/.test(html.slice(start, start + 2))) at = endOf(html, '>', start + 2);
    else {
      whole += html.slice(start, start + 1); // a `<` that begins nothing
      at = start + 1;
    }
  }
  return trim(withBreaks(whole));
}

const NAME_MAX = 40;
/** Elements whose content is no text, with what ends it. */
const unseen: Readonly<Record<string, RegExp>> = { script: /<\/script/i, style: /<\/style/i };

/** Resolves references, and removes the characters that mark breaks. */
const decoded = (text: string): string => writableText(text.includes('&') ? withEntities().decode(text) : text);

function endOf(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
}

function startOf(mark: RegExp, html: string, from: number): number {
  const at = html.slice(from).search(mark);
  return at === -1 ? html.length : from + at;
}

/** After the `>` that ends the tag: in quotes it does not. What is never closed is dropped to the end, as browsers do. */
function endOfTag(html: string, from: number): number {
  let isValue = false;
  for (let at = from; at < html.length; at++) {
    const unit = html[at]!;
    if (unit === '>') return at + 1;
    if (isValue && (unit === '"' || unit === "'")) at = endOf(html, unit, at + 1) - 1;
    if (!/\s/.test(unit)) isValue = unit === '=';
  }
  return html.length;
}
