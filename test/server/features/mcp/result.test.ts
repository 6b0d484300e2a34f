import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { codeGroups } from '../../../../src/engine/errors/codes.ts';
import { agentError, toolOutcome } from '../../../../src/server/features/mcp/result.ts';
import type { Run } from '../../../../src/server/features/mcp/run.ts';
import { type ToolOutput, agent } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';

const LIMIT = 2_000;

test('the result of each tool fits whole, and its text equals the structured content', async () => {
  const setup = await journey({ mcp: 'on', mcpOperations: 'operations' });
  const { call, client } = await agent(setup.facade.url, 'demo-alice');
  const { tools } = await client.listTools();
  for (const { name, inputSchema } of tools) {
    const properties = Object.entries(inputSchema.properties as Record<string, { examples?: string[] }>);
    const given = Object.fromEntries(
      properties.flatMap(([key, { examples }]) => (examples ? [[key, examples[0]]] : [])),
    );
    const { text, output, isError } = await call(name, given);
    expect({ name, isError, cut: output.cut }).toEqual({ name, isError: false, cut: undefined });
    expect(JSON.parse(text)).toEqual(output);
  }
});

test('an error says whether the same call may help, as the table of codes does', () => {
  const retryOf = (code: string) => agentError(new GraphQLError('It failed.', { extensions: { code } })).retry;
  const notes = codeGroups.flatMap(({ codes }) => Object.entries(codes));
  expect(notes.map(([code]) => [code, retryOf(code)])).toEqual(notes.map(([code, { retry }]) => [code, retry]));
  expect([retryOf('RATE_LIMITED'), retryOf('LOGIN_REQUIRED')]).toEqual(['later', 'login']);
});

test('an error contains the record that its advice refers to, and no details of the service', () => {
  const extensions = {
    code: 'COLLECTION_EXISTS',
    existing: { id: 'Collection:1' },
    upstream: { msg: 'details of the service' },
  };
  const error = agentError(new GraphQLError('The collection exists.', { extensions }));
  expect(error).toEqual({
    code: 'COLLECTION_EXISTS',
    message: 'The collection exists.',
    whatToDo: expect.stringContaining('`existing.id`') as string,
    retry: 'no',
    existing: { id: 'Collection:1' },
  });
});

test('an error has every member of `extensions` that its advice names', () => {
  const extensions = {
    ...{ retryAfter: 1, violations: [], limit: 1, actual: 2, existing: { id: 'Collection:1' }, requestId: 'r' },
    ...{ current: { title: 'a title' }, revision: 'abc', upstream: { lookAt: 'GET /v2/note/7', msg: 'details' } },
  };
  const named = codeGroups.flatMap(({ codes }) =>
    Object.entries(codes).flatMap(([code, { client }]) =>
      [...client.matchAll(/`(?:extensions\.)?([\w.]+)`/g)].map(([, path]) => ({ code, path: path! })),
    ),
  );
  const shown = named.filter(({ path }) => path.split('.')[0]! in extensions);
  expect(new Set(shown.map(({ path }) => path)).size).toBeGreaterThan(6);
  const missing = shown.filter(({ code, path }) => {
    let value: unknown = agentError(new GraphQLError('It failed.', { extensions: { ...extensions, code } }));
    for (const member of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[member];
    return value === undefined;
  });
  expect(missing).toEqual([]);
});

test('errors with long details are shown without them, but for the revision', () => {
  const current = { title: 'a title', content: '"'.repeat(9_000), tags: ['a'] };
  const error = new GraphQLError('It was changed.', { extensions: { code: 'CONFLICT', current, revision: 'abc' } });
  const output = outputOf({ data: { updateNote: null }, errors: [error] });
  expect(JSON.stringify(output).length).toBeLessThanOrEqual(LIMIT);
  expect(output.errors).toEqual([
    {
      code: 'CONFLICT',
      message: 'It was changed.',
      whatToDo: expect.any(String) as string,
      retry: 'no',
      revision: 'abc',
    },
  ]);
});

test('a result that does not fit is refused, and its error says of a write that it stays', () => {
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`field${at}`, true]));
  for (const isMutation of [false, true])
    expect(outputOf({ data, isMutation })).toMatchObject({
      data: null,
      errors: [
        {
          code: 'ANSWER_TOO_LARGE',
          message: expect.stringMatching(isMutation ? /fields\. What it wrote stays\.$/ : /fields\.$/) as string,
        },
      ],
    });
});

const run: Run = {
  ...{ data: null, errors: [], stale: undefined, plan: undefined, isMutation: false },
  cost: { calls: { catalog: 0, events: 0 }, left: null },
};
const outputOf = (done: Partial<Run>) =>
  toolOutcome(catalogService, { ...run, ...done }, LIMIT).result.structuredContent as ToolOutput;

test('errors and stale records that are left out are counted in `cut`, so that no null passes for an absent record', () => {
  const names = Array.from({ length: 30 }, (_, at) => `field${at}`);
  const errors = names.map(
    (name) => new GraphQLError(`${name} failed.`, { path: [name], extensions: { code: 'CODE' } }),
  );
  const stale = names.map((path) => ({ path, ageSeconds: 60 }));
  const output = outputOf({ data: Object.fromEntries(names.map((name) => [name, null])), errors, stale });
  expect(JSON.stringify(output).length).toBeLessThanOrEqual(LIMIT);
  expect(output.cut!.slice(0, 2)).toEqual([
    { path: 'errors', shown: output.errors!.length, of: 30 },
    { path: 'stale', shown: 10, of: 30 },
  ]);
});
