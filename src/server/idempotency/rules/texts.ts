/** Compares what a write asked for with what the service shows. */

/** Services trim texts and change line ends. */
export const sameText = (a: string | undefined, b: string | undefined): boolean => plain(a) === plain(b);

const plain = (text = ''): string => text.replace(/\s+/gu, ' ').trim();

/** The content of a note without its markup: the service writes links and pictures in tags of its own. */
export const sameNote = (a: string | undefined, b: string | undefined): boolean => bare(a) === bare(b);

const bare = (text = ''): string =>
  text
    .replace(/\[img=\d{1,6}:[LCR]\][^[\]]{0,1000}\[\/img\]|<图片p_\d{1,6}>/g, '')
    .replace(/<a\s[^<>]{0,3000}>/gi, (tag) => /href\s{0,9}=\s{0,9}["']([^"']{0,2000})/i.exec(tag)?.[1] ?? '')
    .replace(/\[url="([^"\n]{0,2000})"\]/g, '$1')
    .replace(/\[\/url\]|<\/a>|\s/gi, '');

/**
 * Whether the service cannot have made the text of what was sent. It may trim, cut, escape and mark up a text, mask words, and leave out or
 * add characters: of letters and digits, one text then has all of the other in their order.
 */
export function isOtherText(stored: string | undefined, sent: string): boolean {
  const [one, other] = [letters(stored), letters(sent)];
  return one !== '' && other !== '' && !hasInOrder(one, other) && !hasInOrder(other, one);
}

function hasInOrder(text: string, wanted: string): boolean {
  let found = 0;
  for (let at = 0; at < text.length && found < wanted.length; at++) if (text[at] === wanted[found]) found++;
  return found === wanted.length;
}

const letters = (text = ''): string =>
  bare(text)
    .replace(/&#?\w{1,10};|<[^<>]{0,3000}>/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|[\u{10000}-\u{10ffff}]/gu, '');

/** Whether pictures of these numbers are stored: all of them, none, or some. */
export function storedPictures(
  photos: Readonly<Record<string, unknown>> | undefined,
  numbers: readonly string[],
): 'all' | 'none' | 'some' {
  const stored = numbers.filter((number) => photos?.[number] !== undefined).length;
  return stored === numbers.length ? 'all' : stored === 0 ? 'none' : 'some';
}
