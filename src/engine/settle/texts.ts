/** Compares what a write asked for with what the service shows, in bounded work for texts of any length. */

/** `unclear`: the service may have made the one of the other. */
export type Likeness = 'same' | 'other' | 'unclear';

/** Longer texts are the same only if they are equal. */
const WHOLE_CHARACTERS = 50_000;
/** What shows that two texts differ: their beginnings. */
const BEGINNING_CHARACTERS = 4_000;
/** How much of a beginning is looked for in another one: what the service adds to the other moves its end. */
const LOOKED_FOR_LETTERS = 1_000;

/** Services trim texts and change line ends. */
export const sameText = (a = '', b = ''): boolean => a === b || (areShort(a, b) && plain(a) === plain(b));

/** The content of a note without its markup: the service writes links and pictures in tags of its own. */
export const sameNote = (a = '', b = ''): boolean => a === b || (areShort(a, b) && bare(a) === bare(b));

const areShort = (a: string, b: string): boolean => Math.max(a.length, b.length) <= WHOLE_CHARACTERS;

const plain = (text: string): string => text.replace(/\s+/gu, ' ').trim();

const bare = (text: string): string =>
  text
    .replace(/\[img=\d{1,6}:[LCR]\][^[\]]{0,1000}\[\/img\]|<图片p_\d{1,6}>/g, '')
    .replace(/<a\s[^<>]{0,3000}>/gi, (tag) => /href\s{0,9}=\s{0,9}["']([^"']{0,2000})/i.exec(tag)?.[1] ?? '')
    .replace(/\[url="([^"\n]{0,2000})"\]/g, '$1')
    .replace(/\[\/url\]|<\/a>|\s/gi, '');

/**
 * Whether the service cannot have made a text of what was sent. It may trim, cut, escape and mark up a text, mask words, and leave out or
 * add characters: of letters and digits, one text then has all of the other in their order. The sent text is prepared once.
 */
export function otherTexts(sent: string): (stored: string | undefined) => boolean {
  const own = beginningOf(sent);
  return (text = '') => {
    const stored = beginningOf(text);
    if (stored.letters === '' || own.letters === '') return false;
    const most = stored.isCut || own.isCut ? LOOKED_FOR_LETTERS : Infinity;
    return !hasInOrder(stored.letters, own.letters, most) && !hasInOrder(own.letters, stored.letters, most);
  };
}

/** Compares things with a title and a content with what was sent, which is prepared once. */
export function compareTitled<Shown extends { title?: string | undefined; content?: string | undefined }>(
  sent: { title: string; content: string },
  isSame: (shown: Shown) => boolean,
): (shown: Shown) => Likeness {
  const [isOtherTitle, isOtherContent] = [otherTexts(sent.title), otherTexts(sent.content)];
  return (shown) => {
    if (isOtherTitle(shown.title) && isOtherContent(shown.content)) return 'other';
    return isSame(shown) ? 'same' : 'unclear';
  };
}

function beginningOf(text: string): { letters: string; isCut: boolean } {
  const isCut = text.length > BEGINNING_CHARACTERS;
  // A tag that is cut off is no text.
  return {
    isCut,
    letters: letters(isCut ? text.slice(0, BEGINNING_CHARACTERS).replace(/[<[][^<>[\]]{0,3000}$/, '') : text),
  };
}

/** Whether a text has these letters in their order; `most` of them are looked for. */
function hasInOrder(text: string, wanted: string, most: number): boolean {
  const length = Math.min(wanted.length, most);
  let found = 0;
  for (let at = 0; at < text.length && found < length; at++) if (text[at] === wanted[found]) found++;
  return found === length;
}

const letters = (text: string): string =>
  bare(text)
    .replace(/&#?\w{1,10};|<[^<>]{0,3000}>/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|[\u{10000}-\u{10ffff}]/gu, '');
