import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filesMarked } from '../../../../src/server/http/request/file-parts.ts';

const TYPE = 'multipart/form-data; boundary=b-b';
const FILE = 'Content-Type: application/octet-stream\r\n';

const marked = (body: string): string =>
  Buffer.concat(filesMarked(Buffer.from(body, 'latin1'), TYPE)).toString('latin1');

test('each part after the first two gets the type of a file', () => {
  const part = fc
    .array(fc.constantFrom('x', '\r\n', '--', 'b-b', '\r\n--b-b', '-', '\r'), { maxLength: 6 })
    .map((texts) => texts.join('').replaceAll('\r\n--b-b\r\n', ''));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const between = (at: number) => `${at === 0 ? '' : '\r\n'}--b-b\r\n`;
      const body = parts.map((text, at) => between(at) + text).join('');
      fc.pre(body.split('--b-b\r\n').length === parts.length + 1);
      const expected = parts.map((text, at) => between(at) + (at < 2 ? '' : FILE) + text).join('');
      expect(marked(body)).toBe(expected);
    }),
    { numRuns: 500 },
  );
});
