/** What the service may do to any response without saying something else: another charset, lists as PHP writes them, texts in HTML, waits. */
import type { Fault } from './faults.ts';
import { createRandom } from './random.ts';
import type { Response_ } from './upstreams.ts';

/** Constant within a case. */
export interface Oddities {
  /** Declared in `Content-Type`. */
  charset: 'utf-8' | 'gbk' | 'utf-16le';
  /** Lists in JSON are objects with whole numbers as keys, with gaps. */
  phpLists: boolean;
  /** Titles, summaries and contents in Atom are of type html. */
  htmlTexts: boolean;
  /** Refusals say when to come back, in different forms. */
  waits: boolean;
}

export const noOddities: Oddities = { charset: 'utf-8', phpLists: false, htmlTexts: false, waits: false };

export function generateOddities(seed: string): Oddities {
  const random = createRandom(`${seed} oddities`);
  return {
    charset: random.weighted<Oddities['charset']>([
      [6, 'utf-8'],
      [2, 'gbk'],
      [1, 'utf-16le'],
    ]),
    phpLists: random.chance(0.2),
    htmlTexts: random.chance(0.2),
    waits: random.chance(0.3),
  };
}

/** The response as it is sent. */
export function oddly({ charset, phpLists, htmlTexts }: Oddities, response: Response_): Response_ & { bytes: Buffer } {
  const isXml = response.type.includes('xml');
  let { body, type } = response;
  if (htmlTexts && isXml) body = withHtmlTexts(body);
  if (phpLists && !isXml) body = withPhpLists(body);
  if (charset === 'utf-8' || !/xml|json/.test(type)) return { ...response, body, bytes: Buffer.from(body) };
  type = `${type.replace(/;.*/s, '')}; charset=${charset}`;
  const bytes = charset === 'gbk' ? inGbk(body, isXml) : Buffer.from(body, 'utf16le');
  return { ...response, body, type, bytes };
}

/** The text of an element is XML already, and becomes the XML of HTML. */
const withHtmlTexts = (document: string): string =>
  document.replace(
    /<(title|summary|content)>([^<]*)<\/\1>/g,
    (_, name: string, text: string) => `<${name} type="html">${text.replaceAll('&', '&amp;')}</${name}>`,
  );

function withPhpLists(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return body;
  }
  // A body that is a list alone is a fault.
  if (Array.isArray(value)) return body;
  return JSON.stringify(value, (_, each: unknown) =>
    Array.isArray(each) && each.length > 0 ? Object.fromEntries(each.map((item, at) => [2 * at, item])) : each,
  );
}

/** The bytes of each character that GBK has in two bytes. */
const gbk = new Map<string, readonly [number, number]>();
function tableOfGbk(): typeof gbk {
  const decoder = new TextDecoder('gbk');
  for (let lead = 0x81; lead <= 0xfe && gbk.size < 30_000; lead++)
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      const character = decoder.decode(Uint8Array.of(lead, trail));
      if (character.length === 1 && character !== '\ufffd') gbk.set(character, [lead, trail]);
    }
  return gbk;
}

/** Characters that GBK lacks are written as references. */
function inGbk(text: string, isXml: boolean): Buffer {
  const table = gbk.size > 0 ? gbk : tableOfGbk();
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const known = code < 0x80 ? [code] : table.get(character);
    if (known) bytes.push(...known);
    else if (isXml) bytes.push(...Buffer.from(`&#${code};`));
    else
      for (const unit of character.split(''))
        bytes.push(...Buffer.from(`\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`));
  }
  return Buffer.from(bytes);
}

/** Waits that are longer than a case, with the `Date` that a date counts from. */
const long: readonly Readonly<Record<string, string>>[] = [
  { 'retry-after': '30' },
  { 'retry-after': '30.5' },
  { 'retry-after': '30, 120' },
  { 'retry-after': '99999999999' },
  { 'retry-after': 'Sun, 06 Nov 1994 08:50:17 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' },
  { 'retry-after': 'Sunday, 06-Nov-94 08:50:17 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' },
  { 'retry-after': 'Thu, 06 Nov 2064 08:50:17 GMT', date: 'Thu, 06 Nov 2064 08:49:37 GMT' },
];
/** What says no time. */
const none: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'retry-after': '0' },
  { 'retry-after': '-30' },
  { 'retry-after': 'soon' },
  { 'retry-after': 'Sun, 06 Nov 1994 08:40:17 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' },
];

/** The headers of a refusal, and whether the service asks to be left alone for longer than a case takes. */
export function waitOf(
  { waits }: Oddities,
  fault: Fault | undefined,
  request: string,
): { headers: Readonly<Record<string, string>>; isLong: boolean } | undefined {
  if (!waits || !(fault === 'status503' || fault === 'status403' || fault === 'rateLimit')) return undefined;
  const random = createRandom(`wait ${request}`);
  const isLong = random.chance(0.6);
  return { headers: random.pick(isLong ? long : none), isLong };
}
