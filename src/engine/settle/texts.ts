/** Compares what a write asked for with what the service shows, in bounded work for texts of any length. */

/** Longer texts are the same only if they are equal. */
const WHOLE_CHARACTERS = 50_000;

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
