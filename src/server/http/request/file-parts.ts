import { Buffer } from 'node:buffer';

/** The parts before the files: `operations` and `map`. */
const TEXTS = 2;
/** The parser takes the first header of a name. The type of a picture is read from its bytes. */
const FILE_TYPE = Buffer.from('Content-Type: application/octet-stream\r\n');

/**
 * Makes each part after `operations` and `map` a file. By the specification it is one, but the parser takes a part without a file name for a
 * text, and some clients name no file. Returns a function from the chunks of a body to what the parser gets in their place.
 */
export function markFiles(contentType: string | undefined): (chunk: Buffer) => Buffer[] {
  const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType ?? '');
  const name = boundary?.[1] ?? boundary?.[2];
  if (!name) return (chunk) => [chunk];
  const delimiter = Buffer.from(`\r\n--${name}\r\n`);
  // The first delimiter stands at the start of the body, without a line break before it.
  let tail = Buffer.from('\r\n');
  let parts = 0;
  return (chunk) => {
    const seen = tail.length;
    const text = Buffer.concat([tail, chunk]);
    const pieces: Buffer[] = [];
    let from = seen;
    for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1)) {
      const end = at + delimiter.length;
      if (++parts <= TEXTS) continue;
      pieces.push(text.subarray(from, end), FILE_TYPE);
      from = end;
    }
    if (from < text.length) pieces.push(text.subarray(from));
    tail = text.subarray(Math.max(0, text.length - delimiter.length + 1));
    return pieces;
  };
}
