import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markFiles } from '../../../../src/server/http/request/file-parts.ts';

const TYPE = 'multipart/form-data; boundary=b-b';
const FILE = 'Content-Type: application/octet-stream\r\n';

/** What the parser gets of a body that comes in pieces of these lengths. */
function marked(body: string, lengths: readonly number[]): string {
  const mark = markFiles(TYPE);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const length of [...lengths, body.length]) {
    if (from < body.length) pieces.push(...mark(Buffer.from(body.slice(from, from + length), 'latin1')));
    from += length;
  }
  return Buffer.concat(pieces).toString('latin1');
}

test('each part after the first two gets the type of a file, however the body is cut', () => {
  const part = fc
    .array(fc.constantFrom('x', '\r\n', '--', 'b-b', '\r\n--b-b', '-', '\r'), { maxLength: 6 })
    .map((texts) => texts.join('').replaceAll('\r\n--b-b\r\n', ''));
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 }),
      (parts, lengths) => {
        const between = (at: number) => `${at === 0 ? '' : '\r\n'}--b-b\r\n`;
        const body = parts.map((text, at) => between(at) + text).join('');
        fc.pre(body.split('--b-b\r\n').length === parts.length + 1);
        const expected = parts.map((text, at) => between(at) + (at < 2 ? '' : FILE) + text).join('');
        expect(marked(body, lengths)).toBe(expected);
      },
    ),
    { numRuns: 500 },
  );
});
