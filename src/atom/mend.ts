/**
 * Mends what lenient senders write, so that `readFields` can read it: a bare `&`, entities of HTML, names beyond ASCII. fast-xml-parser says
 * whether the rest is well-formed.
 */
import { createRequire } from 'node:module';
import type * as Entities from 'entities';
import type * as Xml from 'fast-xml-parser';
import { lazily } from '../lib/promises.ts';
import { AtomError, escape, refuseUnwritable, withLineFeeds } from './xml.ts';

const DEPTH_MAX = 40;

/** Loaded with the first document that needs it, because most processes never need it. */
const withLibrary = lazily(() => {
  const require = createRequire(import.meta.url);
  const { XMLValidator } = require('fast-xml-parser') as typeof Xml;
  const { decodeHTMLStrict } = require('entities') as typeof Entities;
  return {
    /** The character that HTML gives this name; undefined for a name that it does not have. */
    characterOf: (reference: string): string | undefined => {
      const character = decodeHTMLStrict(reference);
      return character === reference ? undefined : character;
    },
    isWellFormed: (text: string) => XMLValidator.validate(text) === true,
  };
});

/**
 * Reduces a document to elements, attributes and escaped text: drops comments and instructions, writes CDATA as text, and escapes an
 * ampersand that begins no reference, because some senders forget to. Throws an AtomError for declarations, deep nesting, and what is not
 * well-formed.
 */
export function mended(document: string): string {
  refuseUnwritable(document);
  const text = withLineFeeds(document);
  const out: string[] = [];
  let depth = 0;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    let end = text.indexOf('<', at);
    if (end === -1) end = text.length;
    if (end > at) {
      out.push(mendReferences(text.slice(at, end)));
    } else if (text.startsWith('<!--', at)) {
      end = endOf(text, '-->', at + 4);
    } else if (text.startsWith('<![CDATA[', at)) {
      end = endOf(text, ']]>', at + 9);
      out.push(escape(text.slice(at + 9, end - 3)));
    } else if (text.startsWith('<?', at)) {
      end = endOf(text, '?>', at + 2);
    } else if (text.startsWith('<!', at)) {
      throw new AtomError('declarations are not read');
    } else {
      end = endOfTag(text, at);
      if (text[at + 1] === '/') depth -= 1;
      else if (text[end - 2] !== '/') depth += 1;
      if (depth > DEPTH_MAX) throw new AtomError('nested too deeply');
      const tag = mendReferences(text.slice(at + 1, end - 1));
      out.push('<', tag.replaceAll('<', '&lt;').replaceAll('>', '&gt;'), '>');
    }
    at = end;
  }
  const plain = out.join('');
  if (!withLibrary().isWellFormed(plain)) throw new AtomError('not well-formed XML');
  return plain;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  if (found === -1) throw new AtomError('the text ends too early');
  return found + mark.length;
}

function endOfTag(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '>') return at + 1;
    if (character === '"' || character === "'") at = endOf(text, character, at + 1) - 1;
  }
  throw new AtomError('the text ends too early');
}

function mendReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|[A-Za-z]\w{0,31};)?/g,
    (reference, decimal: string | undefined, hexadecimal: string | undefined) => {
      if (reference === '&') return '&amp;';
      const code = decimal ? Number(decimal) : hexadecimal ? Number.parseInt(hexadecimal, 16) : undefined;
      // A name that HTML does not have is read as it is written.
      if (code === undefined) return escape(withLibrary().characterOf(reference) ?? reference);
      if (code > 0x10ffff) throw new AtomError('a reference to no character');
      // Resolved here, because the parser reads the numbers 128 to 159 as Windows-1252 characters.
      return escape(String.fromCodePoint(code));
    },
  );
}
