import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeGroups } from '../../../src/engine/errors/codes.ts';
import { toClientError } from '../../../src/engine/errors/to-client-error.ts';
import { TierRequired, UpstreamFailure } from '../../../src/upstream/errors.ts';

/** What makes an error of a message. */
const MAKERS =
  /(?:new (?:HttpError|GraphQLError)|badInput|badUpload|malformedRequest|invalidText|clientError|refused)\(\s*/g;

/** Messages that are those of graphql-js, to the letter. */
const OF_GRAPHQL_JS = ['Too many errors processing variables, error limit reached. Execution aborted.'];

/** The text literals at the beginning of a call: its code and its message. */
function literalsAt(source: string): string[] {
  const found: string[] = [];
  const literal = /\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)\s*(?:,|\))/y;
  for (let match = literal.exec(source); match; match = literal.exec(source))
    found.push(match[1] ?? match[2] ?? match[3]!);
  return found;
}

/** A text as a reader sees it: a value is a word. */
const shown = (text: string) => text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'value');

/** Not a code, and not only a place for a sentence that is written elsewhere. */
const isSentence = (text: string) => /[a-z]{2}.* .*[a-z]{2}/.test(text.replaceAll(/\$\{[^}]*\}.*/g, ''));

const messages = ['engine', 'graph', 'server'].flatMap((room) =>
  readdirSync(join('src', room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const source = readFileSync(join('src', room, file), 'utf8');
      return [...source.matchAll(MAKERS)].flatMap(({ 0: maker, index }) =>
        literalsAt(source.slice(index + maker.length)).flatMap((text) =>
          isSentence(text) && !OF_GRAPHQL_JS.includes(text) ? [[join(room, file), shown(text)] as const] : [],
        ),
      );
    }),
);

test('a message is one sentence, without other causes and without advice to try again', () => {
  expect(messages.length).toBeGreaterThan(80);
  const isOne = (text: string) => /(?:\.|value)$/.test(text) && !/[.!?] [A-Z]|;|\btry again\b|\bretry\b/i.test(text);
  expect(messages.filter(([, text]) => !isOne(text))).toEqual([]);
});

test('what a code means begins with a sentence that can be a message', () => {
  for (const [code, { what }] of codeGroups.flatMap(({ codes }) => Object.entries(codes))) {
    const [first] = what.split(/(?<=\.) /);
    expect([code, first]).toEqual([code, expect.stringMatching(/^[A-Z][^;]*\.$/)]);
  }
});

const details = { service: 'catalog', request: 'GET /v2/book/7' } as const;

test.each([
  ['The service cannot be reached.', new UpstreamFailure('UPSTREAM_UNAVAILABLE', details, 'no connection')],
  ['The service reports a failure.', new UpstreamFailure('UPSTREAM_UNAVAILABLE', { ...details, status: 503 }, '')],
  ['The service takes no calls for now.', new UpstreamFailure('UPSTREAM_UNAVAILABLE', details, '', { retryAfter: 5 })],
  ['This needs a token of the film tier ADVANCE.', new TierRequired(['advance'], 'x')],
  ['This needs a token of the film tier BASIC or ADVANCE.', new TierRequired(['basic', 'advance'], 'x')],
])('of the causes of a code, the message names the one that is known: %s', (message, error) => {
  expect(toClientError(error)?.message).toBe(message);
});
