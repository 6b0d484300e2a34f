import { Buffer } from 'node:buffer';

/** The parts before the files: `operations` and `map`. */
const TEXTS = 2;
/** The parser takes the first header of a name. The type of a picture is read from its bytes. */
const FILE_TYPE = Buffer.from('Content-Type: application/octet-stream\r\n');

/**
 * The body in pieces, in which each part after `operations` and `map` is a file. By the specification it is one, but the parser takes a part
 * without a file name for a text, and some clients name no file.
 */
export function filesMarked(body: Buffer, contentType: string | undefined): Buffer[] {
  const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType ?? '');
  const name = boundary?.[1] ?? boundary?.[2];
  if (!name) return [body];
  const delimiter = `\r\n--${name}\r\n`;
  const pieces: Buffer[] = [];
  let from = 0;
  // The first delimiter stands at the start of the body, without a line break before it.
  let parts = body.indexOf(delimiter.slice(2)) === 0 ? 1 : 0;
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + 1)) {
    if (++parts <= TEXTS) continue;
    const end = at + delimiter.length;
    pieces.push(body.subarray(from, end), FILE_TYPE);
    from = end;
  }
  return [...pieces, body.subarray(from)];
}
