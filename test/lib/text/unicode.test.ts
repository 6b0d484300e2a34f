import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { wereDecodedWithLoss } from '../../../src/lib/text/unicode.ts';

const formOf = (...parts: readonly (string | Buffer)[]) =>
  Buffer.concat([
    ...parts.flatMap((part) => [
      Buffer.from('--x\r\nContent-Disposition: form-data\r\n\r\n'),
      Buffer.from(part),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--x--\r\n'),
  ]);

test('a part that has the character for lost bytes itself was decoded without loss', () => {
  expect(wereDecodedWithLoss(['a \ufffd'], () => formOf('a \ufffd'))).toBe(false);
});

test('a part with lost bytes is found, also if another part contains its text', () => {
  const lost = Buffer.from('a \xff', 'latin1');
  expect(wereDecodedWithLoss(['a \ufffd'], () => formOf(lost))).toBe(true);
  expect(wereDecodedWithLoss(['a \ufffd'], () => formOf(lost, 'xx a \ufffd yy'))).toBe(true);
});
