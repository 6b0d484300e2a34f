import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import { afterEach, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { facade } from '../../support/facade.ts';

interface Message {
  source?: string;
  schema?: GraphQLSchema;
  document?: DocumentNode;
  operationName?: string;
  operationType?: string;
  rawVariableValues?: object;
  result?: { data?: unknown; errors?: GraphQLError[] } & GraphQLError[];
  error?: Error;
}

const names = ['graphql:parse', 'graphql:validate', 'graphql:execute', 'graphql:subscribe', 'graphql:resolve'];
const ended: (() => void)[] = [];
afterEach(() => ended.splice(0).forEach((end) => end()));

/** The events of all channels of graphql-js, as an agent sees them. */
function subscribe() {
  const events: { event: string; message: Message }[] = [];
  for (const name of names) {
    const channel = tracingChannel<unknown, Message>(name);
    const seen = (event: string) => (message: object) =>
      void events.push({ event: `${name.slice('graphql:'.length)} ${event}`, message: { ...message } });
    const handlers = {
      start: seen('start'),
      end: seen('end'),
      asyncStart: seen('asyncStart'),
      asyncEnd: seen('asyncEnd'),
      error: seen('error'),
    };
    channel.subscribe(handlers);
    ended.push(() => channel.unsubscribe(handlers));
  }
  const of = (event: string) => events.find((each) => each.event === event)!.message;
  return { events, names: () => events.map(({ event }) => event), of };
}

test('a subscriber sees the parsing, the validation and the execution of an operation as graphql-js 17 publishes them', async () => {
  const { service, execute } = facade();
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: 'A' });
  const seen = subscribe();
  const query = 'query Page($id: ID!) { book(id: $id) { title } }';
  await execute(query, { variables: { id: '7' } });
  expect(seen.names()).toEqual([
    ...['parse start', 'parse end', 'validate start', 'validate end'],
    ...['execute start', 'execute end', 'execute asyncStart', 'execute asyncEnd'],
  ]);
  expect(seen.of('parse start')).toEqual({ source: query });
  expect(seen.of('parse end').result).toHaveProperty('kind', 'Document');
  expect(seen.of('validate start').schema === schema).toBe(true);
  expect(seen.of('validate start').document!.kind).toBe('Document');
  expect(seen.of('validate end').result).toEqual([]);
  const { document, schema: executed, ...started } = seen.of('execute start');
  expect([document === seen.of('validate start').document, executed === schema]).toEqual([true, true]);
  expect(started).toEqual({
    rawVariableValues: { id: '7' },
    operationName: 'Page',
    operationType: 'query',
  });
  expect(seen.of('execute asyncEnd').result).toEqual({ data: { book: { title: 'A' } } });
  // A document that is known is not parsed again, as with graphql-js and a cache of documents.
  seen.events.length = 0;
  service.intercept({ path: '/v2/book/8?fields=id,title' }).reply(200, { id: '8', title: 'B' });
  await execute(query, { variables: { id: '8' } });
  expect(seen.names()[0]).toBe('execute start');
});

test('errors are told where graphql-js tells them', async () => {
  const { execute } = facade();
  const seen = subscribe();
  await execute('query {');
  expect(seen.names()).toEqual(['parse start', 'parse error', 'parse end']);
  expect(seen.of('parse error').error!.message).toContain('Syntax Error');
  seen.events.length = 0;
  await execute('{ nope }');
  expect(seen.of('validate end').result!.map(({ message }) => message)).toEqual([expect.stringContaining('"nope"')]);
  seen.events.length = 0;
  await execute('query Q($id: ID!) { book(id: $id) { title } }', { variables: {} });
  expect(seen.names().slice(-2)).toEqual(['execute start', 'execute end']);
  expect(seen.of('execute end').result!.errors![0]!.message).toContain('"$id" of required type');
});

test('a context that a subscriber binds is there while the operation runs', async () => {
  const { service, execute } = facade();
  const storage = new AsyncLocalStorage<string>();
  const { start } = tracingChannel('graphql:execute');
  start.bindStore(storage, (message) => (message as Message).operationName!);
  ended.push(() => start.unbindStore(storage));
  let bound: string | undefined;
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(() => {
    bound = storage.getStore();
    return { statusCode: 200, data: { id: '7', title: 'A' } };
  });
  await execute('query Page { book(id: 7) { title } }');
  expect(bound).toBe('Page');
});

test('a result in parts is executed once, and not shown', async () => {
  const { service, execute } = facade();
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: 'A' });
  const seen = subscribe();
  const { data } = await execute('{ ... @defer { book(id: 7) { title } } __typename }');
  expect(data).toEqual({ __typename: 'Query', book: { title: 'A' } });
  expect(seen.names().filter((name) => name === 'execute start')).toHaveLength(1);
  expect(seen.events.at(-1)!.message.result).toBeUndefined();
});
