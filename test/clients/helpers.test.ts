/** What catalog-graphql-client exports for pages, with errors of the facade. */
import { expect, test } from 'vitest';
import { type ErrorCode, adviceByCode, fieldErrors, helpUrl, retryByCode } from '../../client/src/errors.ts';
import { localDateTime } from '../../client/src/scalars.ts';
import { codeGroups } from '../../src/engine/errors/codes.ts';
import { startFacade } from '../support/start-facade.ts';

const { url } = await startFacade();
async function errorsOf(query: string, variables: object) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables }),
  });
  return ((await response.json()) as { errors: { extensions: Record<string, unknown> }[] }).errors;
}
const collect = `mutation ($input: CollectBookInput!) { collectBook(input: $input) { created } }`;

test('a violation in a list is at the item and at the list, and two of one list are both at the list', async () => {
  const input = { bookId: '6082808', status: 'WISH', rating: 9, tags: ['a b', 'good', 'x y'] };
  const shown = fieldErrors(await errorsOf(collect, { input }));
  expect(Object.keys(shown).sort()).toEqual(['rating', 'tags', 'tags.0', 'tags.2']);
  expect(shown.tags).toContain(shown['tags.0']!);
  expect(shown.tags).toContain(shown['tags.2']!);
});

test('an error without violations is at no field', () => {
  expect(fieldErrors([{}, { extensions: { code: 'LOGIN_REQUIRED' } }])).toEqual({});
});

test('the help of an error is at the facade, not at the front end', async () => {
  const [error] = await errorsOf(collect, { input: { bookId: '6082808', status: 'WISH', rating: 9 } });
  expect(helpUrl(error!, url)).toMatch(/^http.*\/docs\/errors#/);
  const help = { extensions: { help: '/docs/errors#forbidden' } };
  expect(helpUrl(help, 'https://api.example/graphql')).toBe('https://api.example/docs/errors#forbidden');
  expect(helpUrl({ extensions: { help: 'https://docs.example/a#b' } }, 'https://api.example/graphql')).toBe(
    'https://docs.example/a#b',
  );
  expect(helpUrl({}, url)).toBeUndefined();
});

test('a LocalDateTime is read in the time zone of the service, whatever that of the program', () => {
  expect(localDateTime('2026-11-26T19:46:00').toISOString()).toBe('2026-11-26T11:46:00.000Z');
});

test('the type ErrorCode has each code of the documentation and no other', () => {
  const known: ErrorCode = 'TIER_REQUIRED';
  // @ts-expect-error -- no such code
  const unknown: ErrorCode = 'NO_SUCH_CODE';
  expect(codeGroups.flatMap(({ codes }) => Object.keys(codes))).toEqual(expect.arrayContaining([known]));
  expect(codeGroups.flatMap(({ codes }) => Object.keys(codes))).not.toContain(unknown);
});

test('the advice on retries is that of the documentation, for each code', () => {
  const documented = codeGroups.flatMap(({ codes }) => Object.entries(codes).map(([code, { retry }]) => [code, retry]));
  expect(Object.entries(retryByCode)).toEqual(documented);
  expect(retryByCode['CODE_OF_A_LATER_VERSION']).toBeUndefined();
});

test('what a program does about a code is that of the documentation, for each code', () => {
  const documented = codeGroups.flatMap(({ codes }) =>
    Object.entries(codes).map(([code, { advice }]) => [code, advice]),
  );
  expect(Object.entries(adviceByCode)).toEqual(documented);
  expect(adviceByCode['CODE_OF_A_LATER_VERSION']).toBeUndefined();
});
