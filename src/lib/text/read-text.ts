/** Text files as editors and shells of all systems write them. */
import { readFileSync } from 'node:fs';

/** A file as text, in UTF-8 or UTF-16, without the byte order mark. `-` is the standard input. */
export function readTextFile(path: string): string {
  return decodeText(readFileSync(path === '-' ? 0 : path));
}

/** Without a mark, texts that begin with an ASCII character, as GraphQL and JSON do, show the encoding by the index of the zero byte. */
export function decodeText(bytes: Buffer): string {
  const [first, second] = bytes;
  const isBigEndian = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  const isLittleEndian = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
  const encoding = bytes.length < 2 ? 'utf-8' : isBigEndian ? 'utf-16be' : isLittleEndian ? 'utf-16le' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes); // which removes the mark
}
