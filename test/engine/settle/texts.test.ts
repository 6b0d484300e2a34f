import { expect, test } from 'vitest';
import { otherTexts, sameText } from '../../../src/engine/settle/texts.ts';

test.each([
  ['is escaped', 'a "b" c', '<p>a &quot;b&quot;&#160;c</p>'],
  ['is cut', 'one two three four', 'one two'],
  ['has a masked word', 'a damned thing', 'a d***ed thing'],
  ['has added words', 'a thing', 'a thing (edited)'],
])('a text that %s may be made of what was sent', (_, sent, stored) => {
  expect(otherTexts(sent)(stored)).toBe(false);
});

test('a text with other letters is another one', () => {
  expect(otherTexts('the first of them')('something else')).toBe(true);
});

test('of long texts the beginnings decide, so that the work is bounded', () => {
  const [beginning, end] = ['ab '.repeat(2_000), 'cd '.repeat(100_000)];
  expect(otherTexts(beginning + end)(beginning + 'x'.repeat(300_000))).toBe(false);
  expect(otherTexts(beginning + end)('xyz '.repeat(100_000))).toBe(true);
});

test('a long text with markup at its beginning may be made of what was sent', () => {
  const words = Array.from({ length: 3_000 }, (_, at) => `word${at}`).join(' ');
  const link = `<a href="https://example.com/${'p'.repeat(2_500)}">here</a> `;
  expect(
    otherTexts(link + words)(link.replace('<a href=', '[url=').replace('">', '"]').replace('</a>', '[/url]') + words),
  ).toBe(false);
});

test('very long texts are the same only if they are equal', () => {
  const long = 'a b '.repeat(20_000);
  expect(sameText(long, long)).toBe(true);
  expect(sameText(long, long.replace(' ', '\r\n'))).toBe(false);
  expect(sameText('a  b\r\n', 'a b')).toBe(true);
});
