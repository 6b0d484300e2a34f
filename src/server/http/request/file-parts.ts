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
  const within = delimiter.length - 1;
  // The first delimiter stands at the start of the body, without a line break before it.
  let tail = Buffer.from('\r\n');
  let parts = 0;
  return (chunk) => {
    // The chunk is not copied, only what may have a delimiter that began before it.
    const seam = Buffer.concat([tail, chunk.subarray(0, within)]);
    const ends = [...endsIn(seam, delimiter).map((end) => end - tail.length), ...endsIn(chunk, delimiter)].filter(
      () => ++parts > TEXTS,
    );
    tail = Buffer.concat([tail, chunk.subarray(-within)]).subarray(-within);
    const pieces: Buffer[] = [];
    let from = 0;
    for (const end of ends) {
      pieces.push(chunk.subarray(from, end), FILE_TYPE);
      from = end;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
    return pieces;
  };
}

/** Where the delimiters of a text end. */
function endsIn(text: Buffer, delimiter: Buffer): number[] {
  const ends = [];
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1))
    ends.push(at + delimiter.length);
  return ends;
}
