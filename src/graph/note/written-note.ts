/**
 * The text of a note in the form in which it is written. It is read with pictures as `[img=<number>:<layout>]<caption>[/img]` and links as
 * `[url="<url>"]<title>[/url]`, and written with `<图片p_n>`, whose layout and caption are fields of their own, and HTML links.
 */

/** Layout and caption of each picture that the text shows, as the fields of the form. */
export interface KeptPictures {
  shownPictures?: Readonly<Record<string, string>> | undefined;
}

/** A picture, or a link: the real service writes the URL of a link without quotes too. */
const marks =
  /\[img=(\d{1,6}):([LCR])\](.{0,1000}?)\[\/img\]|\[url=(?:"([^"\n]{0,2000})"|(https?:\/\/[^"\]\s]{1,2000}))\](.{0,1000}?)\[\/url\]/gs;
/** What the service reads as markup, or as a link, in a text that is written. */
const readAsMarkup = /\[\/?(?:img|url)\b|https?:\/\/|<\/?a\b/i;
const placeholder = /<图片p_(\d{1,6})>/g;
/** A URL that the service finds in a text by itself, if it stands alone. */
const plainUrl = /^https?:\/\/[\w\-.~:/?#@$&*+;=%,]*[\w\-~/#@$&*+=%]$/;
const linkUrl = /^https?:\/\/[^\s"<>]+$/i;

/** Undefined if it is not certain that the service makes the same text of it again. */
export function writtenNote(
  content: string | undefined,
  photos: Readonly<Record<string, unknown>> | undefined,
): ({ content: string } & KeptPictures) | undefined {
  if (content === undefined) return undefined;
  const fields = new Map<string, string>();
  let text = '';
  let end = 0;
  const isPlain = (part: string) =>
    !readAsMarkup.test(part) && [...part.matchAll(placeholder)].every(([, number]) => photos?.[number!] === undefined);
  for (const mark of content.matchAll(marks)) {
    const [whole, number, layout, caption = '', quoted, bare, title = ''] = mark;
    const before = content.slice(end, mark.index);
    end = mark.index + whole.length;
    const isAlone = /(?:^|\s)$/.test(before) && /^(?:\s|$)/.test(content.slice(end, end + 1));
    const part =
      number === undefined
        ? writtenLink(quoted ?? bare ?? '', title, isAlone && (before !== '' || mark.index === 0))
        : photos?.[number] !== undefined && keepPicture(fields, number, layout!, caption)
          ? `<图片p_${number}>`
          : undefined;
    if (part === undefined || !isPlain(before)) return undefined;
    text += before + part;
  }
  const rest = content.slice(end);
  if (!isPlain(rest)) return undefined;
  return { content: text + rest, shownPictures: Object.fromEntries(fields) };
}

/** False if the text shows it in two ways, or with a caption that the service would change. */
function keepPicture(fields: Map<string, string>, number: string, layout: string, caption: string): boolean {
  if (readAsMarkup.test(caption) || caption !== caption.replace(/\s+/gu, ' ')) return false;
  for (const [name, value] of [
    [`layout_${number}`, layout],
    [`desc_${number}`, caption],
  ] as const) {
    if ((fields.get(name) ?? value) !== value) return false;
    fields.set(name, value);
  }
  return true;
}

/** The most characters of an HTML link that the service surely reads as one. */
const LINK = { url: 2_000, title: 1_000 };

function writtenLink(url: string, title: string, isAlone: boolean): string | undefined {
  if (!linkUrl.test(url) || /\[\/?(?:img|url)\b/i.test(title)) return undefined;
  if (title === '' && isAlone && plainUrl.test(url)) return url;
  const [href, words] = [escaped(url), escaped(title)];
  return href.length <= LINK.url && words.length <= LINK.title ? `<a href="${href}">${words}</a>` : undefined;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
