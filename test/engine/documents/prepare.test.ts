import { expect, test } from 'vitest';
import type { GraphQLResponse } from '../../support/facade.ts';
import { startFacade } from '../../support/start-facade.ts';

const { url } = await startFacade();

const two = 'query A { __typename } query B { __typename }';
const errors: [what: string, params: Record<string, string>, message: string, code: string][] = [
  ['several operations', { query: two }, 'send `operationName`', 'OPERATION_RESOLUTION_FAILURE'],
  ['another name', { query: two, operationName: 'C' }, 'no operation of that name', 'OPERATION_RESOLUTION_FAILURE'],
  ['a syntax error', { query: '{ book(' }, 'Syntax Error', 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', { query: '{ nope }' }, 'Cannot query field "nope"', 'GRAPHQL_VALIDATION_FAILED'],
];

/** Clients that accept application/json alone expect the status 200 for an invalid document. */
const statusOf = (code: string, accept: string) => {
  if (accept === 'application/json') return code === 'OPERATION_RESOLUTION_FAILURE' ? 400 : 200;
  return code === 'GRAPHQL_PARSE_FAILED' ? 400 : 422;
};

test.each(errors)(
  'a document with %s has the same response by POST, by GET and to a client of parts',
  async (_, params, message, code) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const post = {
        method: 'POST',
        body: JSON.stringify(params),
        headers: { 'content-type': 'application/json', accept },
      };
      const responses = await Promise.all([
        fetch(url, post),
        fetch(`${url}?${new URLSearchParams(params).toString()}`, {
          headers: { accept, 'apollo-require-preflight': '1' },
        }),
        fetch(url, { ...post, headers: { ...post.headers, accept: `multipart/mixed, ${accept}` } }),
      ]);
      const [first, ...others] = await Promise.all(
        responses.map(async (each) => ({ status: each.status, body: (await each.json()) as GraphQLResponse })),
      );
      for (const other of others) expect(other).toEqual(first);
      expect(first?.status).toBe(statusOf(code, accept));
      expect(first?.body.errors).toMatchObject([
        { message: expect.stringContaining(message) as string, extensions: { code } },
      ]);
      expect(first?.body).not.toHaveProperty('data');
    }
  },
);
