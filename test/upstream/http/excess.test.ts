import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { cut, dropExcess, withoutExcess } from '../../../src/upstream/http/excess.ts';
import { NESTING_MAX } from '../../../src/lib/parse-json.ts';
import { createApiRequest } from '../../../src/upstream/http/request.ts';

const cutText = (text: string, most: number) => cut(Buffer.from(text), 'tags', most)?.toString();

const item = fc.jsonValue({ maxDepth: 3 });
const answer = fc.record({
  before: fc.jsonValue({ maxDepth: 2 }),
  tags: fc.array(item, { maxLength: 12 }),
  after: fc.jsonValue({ maxDepth: 2 }),
});
const blank = fc.constantFrom(undefined, 1, '\t', '\r\n');

test('a list is cut to what is wanted of it, and all else stays', () => {
  fc.assert(
    fc.property(answer, blank, fc.integer({ min: 1, max: 13 }), (whole, space, most) => {
      const text = JSON.stringify(whole, undefined, space);
      const all = JSON.parse(text) as { tags: unknown[] };
      const shorter = cutText(text, most);
      if (all.tags.length <= most) expect(shorter).toBeUndefined();
      else expect(JSON.parse(shorter!)).toEqual({ ...all, tags: all.tags.slice(0, most) });
    }),
    { numRuns: 500, seed: 1 },
  );
});

test('what is no JSON is none when it is cut', () => {
  const odd = fc.constantFrom(...'"\\,:[]{}0-+.eEu \n\u0001at', '\\u12', '\\x', '00', '-', '1.', 'tru', 'null');
  fc.assert(
    fc.property(answer, odd, fc.nat(), fc.nat({ max: 3 }), (whole, put, place, instead) => {
      const text = JSON.stringify(whole);
      const at = place % text.length;
      const broken = Buffer.from(text.slice(0, at) + put + text.slice(at + instead));
      const shorter = cut(broken, 'tags', 1);
      if (shorter && isJson(shorter)) expect(isJson(broken), broken.toString()).toBe(true);
    }),
    { numRuns: 5_000, seed: 1 },
  );
});

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['a list that goes on', '{"tags":[1,2,3'],
  ['a comma too many', '{"tags":[1,2,3,]}'],
  ['a text that goes on', '{"tags":[1,2,"3]}'],
  ['a line end in a text', '{"tags":[1,2,"\n"]}'],
  ['an escape that is none', '{"tags":[1,2,"\\u00g0"]}'],
  ['a number that is none', '{"tags":[1,2,03]}'],
  ['a word that is none', '{"tags":[1,2,nul]}'],
  ['a name without a value', '{"tags":[1,2,{"a"}]}'],
  ['an item as deep as nothing may be', `{"tags":[1,2,${deep(NESTING_MAX - 1)}]}`],
  ['another list', '{"tag":[1,2,3]}'],
  ['a list of that name further down', '{"a":{"tags":[1,2,3]}}'],
  ['a list where an object should be', '[1,2,3]'],
  ['nothing', ''],
])('%s is left as it is', (_, text) => {
  expect(cutText(text, 1)).toBeUndefined();
});

test.each([
  ['of any depth that is allowed', `{"tags":[1,${deep(NESTING_MAX - 2)}]}`],
  ['in any letters', '{"tags":[1,"\\u4F60\\n你😀",-1.5e+10,true,false,null,0]}'],
  ['behind others', '{"count":-0.5,"title":"\\"[","start":null, "tags" : [1 , 2 ] }'],
])('items are dropped %s', (_, text) => {
  expect(JSON.parse(cutText(text, 1)!)).toEqual({ ...(JSON.parse(text) as object), tags: [1] });
});

test('a list that came too long once is cut before it is parsed from then on, and keeps one that tells of more', () => {
  const asked = createApiRequest(bookEndpoints.userTags, { name: 'alice', start: 0, count: 2 });
  const whole = { tags: [1, 2, 3, 4, 5] };
  const body = Buffer.from(JSON.stringify(whole));
  expect(withoutExcess(asked, body)).toBe(body);
  dropExcess(asked, whole);
  expect(whole).toEqual({ tags: [1, 2, 3] });
  expect(withoutExcess(asked, body).toString()).toBe('{"tags":[1,2,3]}');
  const all = createApiRequest(bookEndpoints.userTags, { name: 'alice' });
  expect(withoutExcess(all, body)).toBe(body);
});
