import { expect, test } from 'vitest';
import { sameText } from '../../../src/engine/settle/texts.ts';

test('very long texts are the same only if they are equal', () => {
  const long = 'a b '.repeat(20_000);
  expect(sameText(long, long)).toBe(true);
  expect(sameText(long, long.replace(' ', '\r\n'))).toBe(false);
  expect(sameText('a  b\r\n', 'a b')).toBe(true);
});
