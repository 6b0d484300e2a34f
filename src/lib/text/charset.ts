/** Decodes bytes by the charset that they declare: by a byte order mark, in `Content-Type`, or in an XML declaration. */
import { isAscii, isUtf8, transcode } from 'node:buffer';
import { remembering } from '../remember.ts';

/** From this many bytes on, a detour over UTF-16 takes less time than Node's decoder: that takes 20 ns for each character beyond ASCII. */
const LONG = 1_000;

function textOfUtf8(body: Buffer): string | undefined {
  if (isAscii(body)) return body.toString('latin1');
  if (!isUtf8(body)) return undefined;
  return body.length < LONG ? body.toString() : transcode(body, 'utf8', 'utf16le').toString('utf16le');
}

/** The body as text, without a byte order mark; undefined if some bytes are not of this charset, or it is unknown. */
export function decodeStrictly(body: Buffer, charset: string): string | undefined {
  const text = charset === 'utf-8' ? textOfUtf8(body) : decodedBy(charset, body);
  return text?.startsWith('\ufeff') ? text.slice(1) : text;
}

function decodedBy(charset: string, body: Buffer): string | undefined {
  try {
    const decoder = new TextDecoder(charset, { fatal: true });
    // Node's decoder drops this byte, which no charset of several bytes has, without an error.
    if (/^(?:gb|big5|shift|euc)/.test(decoder.encoding) && body.includes(0xff)) return undefined;
    return decoder.encoding === 'windows-1252' ? (textOfUtf8(body) ?? westernText(body)) : decoder.decode(body);
  } catch {
    return undefined;
  }
}

const [LESS, NUL] = [0x3c, 0];

/** The charset that the first bytes show, by a byte order mark or by zero bytes of ASCII characters in UTF-16, else that of the header. */
export function outerCharset(body: Buffer, contentType?: string): string | undefined {
  const first = body[0];
  const second = body[1];
  if (first === 0xef && second === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === NUL && body[2] === NUL && second !== NUL) return 'utf-16be';
  if (second === NUL && body[3] === NUL && first !== NUL) return 'utf-16le';
  return charsetOfHeader(contentType);
}

const charsetOfHeader = remembering((contentType) =>
  named(/;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? '')),
);

/** How far a declaration may reach. */
const DECLARATION_MAX = 200;
const charsetOfXml = (body: Buffer): string | undefined =>
  body[0] === LESS
    ? named(/^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']+)/.exec(body.toString('latin1', 0, DECLARATION_MAX)))
    : undefined;

/** Where the charset of a body is found, undefined where it is not. The first that fits counts; the last is the default. */
export const charsetSources: readonly ((body: Buffer, contentType: string | undefined) => string | undefined)[] = [
  outerCharset,
  charsetOfXml,
  () => 'utf-8',
];

/** Code pages, which Java and Windows name otherwise than the web. */
const codePages: Readonly<Record<string, string>> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5' };

function named(match: RegExpExecArray | null): string | undefined {
  const charset = match?.[1]?.trim().toLowerCase();
  if (charset === undefined) return undefined;
  if (/^utf-?8(?:mb\d)?$/.test(charset)) return 'utf-8';
  if (charset === 'euc-cn') return 'gbk';
  return codePages[/^(?:cp|ms|windows-)(\d+)$/.exec(charset)?.[1] ?? ''] ?? charset;
}

/** 0x80 to 0x9f of windows-1252, control characters to some versions of Node. Servers label UTF-8 by that name too. */
const western = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const westernText = (body: Buffer): string =>
  body.toString('latin1').replace(/[\u0080-\u009f]/g, (unit) => western[unit.charCodeAt(0) - 0x80]!);
