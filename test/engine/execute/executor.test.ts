import fc from 'fast-check';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type OperationDefinitionNode,
  buildSchema,
  execute,
  isObjectType,
  parse,
  print,
} from 'graphql';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/engine/context.ts';
import { withoutIncremental } from '../../../src/engine/plan/document.ts';
import type { Part } from '../../../src/engine/execute/execution.ts';
import { createExecutor } from '../../../src/engine/execute/executor.ts';
import type { Delivery } from '../../../src/engine/execute/incremental.ts';
import { planOperation } from '../../../src/engine/plan/plan-operation.ts';
import { thorough } from '../../support/optional.ts';

/** Capital letters are non-null fields: numbers, objects, lists and their items. */
const schema = buildSchema(`
  type Query { n: Int, N: Int!, o: Thing, O: Thing!, l: [Thing], L: [Thing!]!, s: [Int], S: [Int!]! }
  type Mutation { n: Int, N: Int!, o: Thing }
  type Thing { n: Int, N: Int!, o: Thing, O: Thing!, l: [Thing], L: [Thing!]!, s: [Int], S: [Int!]! }
`);
const query = parse(`{
  n o { n N S } L { N o { ...thing } O { N } l { n N } } l { n O { N L { N } } } S ...on Query { O { ...thing } s }
}
fragment thing on Thing { N L { n N } s o { N } }`);
const mutation = parse('mutation { n N o { n N } again: n }');

/** What a field resolves to: a value, null or an error, immediately or after some turns of the event loop. */
interface Held {
  value: unknown;
  fails: boolean;
  after: number | undefined;
}
type Thing = Record<string, Held>;

const { held } = fc.letrec<{ thing: Thing; list: Held[]; held: Held; numbers: Held[] }>((tie) => {
  const holding = (value: fc.Arbitrary<unknown>) =>
    fc.record({
      value: fc.option(value, { freq: 12 }),
      fails: fc.integer({ max: 12, min: 0 }).map((roll) => roll === 0),
      after: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    });
  const number = holding(fc.integer({ min: 0, max: 9 }));
  return {
    thing: fc.record({
      n: number,
      N: number,
      o: tie('held'),
      O: tie('held'),
      l: holding(tie('list')),
      L: holding(tie('list')),
      s: holding(tie('numbers')),
      S: holding(tie('numbers')),
    }),
    list: fc.array(tie('held'), { maxLength: 3 }),
    numbers: fc.array(number, { maxLength: 3 }),
    held: holding(fc.option(tie('thing'), { nil: {}, depthSize: 'small' })),
  };
});

/** As a resolver returns it. Items are asynchronous: graphql-js leaves pending items unhandled if another one throws synchronously. */
function given({ value, fails, after }: Held): unknown {
  const settle = () => {
    if (fails) throw new Error('it fails');
    return Array.isArray(value) ? value.map((item: Held) => given({ ...item, after: item.after ?? 0 })) : value;
  };
  return after === undefined ? settle() : later(after).then(settle);
}

async function later(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}

for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || type.name.startsWith('__')) continue;
  for (const field of Object.values(type.getFields()))
    field.resolve = (source: Thing, _, { root }: { root: Thing }) => {
      const held = (type.name === 'Thing' ? source : root)[field.name];
      return held ? given(held) : null;
    };
}

/** The positions that errors have nulled. If several errors null the same one, an executor may report one or all. */
function nulledIn({ data, errors = [] }: ExecutionResult): string[] {
  const places = errors.map(({ path = [] }) => {
    let at: unknown = data;
    const depth = path.findIndex((key) => {
      if (at === null) return true;
      at = (at as Record<string, unknown>)[key];
      return false;
    });
    return (depth < 0 ? path : path.slice(0, depth)).join('.');
  });
  return [...new Set(places)].sort();
}

/** Runs a document by our executor. */
function executorOf(document: DocumentNode) {
  const operation = document.definitions[0] as OperationDefinitionNode;
  const plan = planOperation(schema, document, operation, { isLoggedIn: false, filmTier: null }, {});
  const run = createExecutor(schema, plan);
  return async (contextValue: object) => run(contextValue as Context, {});
}

/** The same for a document without incremental delivery. */
function plainExecutorOf(document: DocumentNode) {
  const run = executorOf(document);
  return async (contextValue: object) => (await run(contextValue)) as ExecutionResult;
}

function comparisonOf(document: DocumentNode) {
  const run = plainExecutorOf(document);
  return async ({ value }: Held) => {
    const contextValue = { root: value ?? {} };
    const reference = await execute({ schema, document, contextValue });
    const ours = await run(contextValue);
    expect(ours.data).toEqual(reference.data);
    expect(nulledIn(ours)).toEqual(nulledIn(reference));
  };
}

test('the executor returns what graphql-js returns, whatever fails, is null or is asynchronous', async () => {
  await fc.assert(fc.asyncProperty(held, comparisonOf(query)), { numRuns: thorough ? 300 : 75, seed: 1 });
});

test('the executor runs mutations as graphql-js does', async () => {
  await fc.assert(fc.asyncProperty(held, comparisonOf(mutation)), { numRuns: thorough ? 100 : 25, seed: 1 });
});

test.each([undefined, 1])('no mutation runs after a non-null one that failed, %s turns later', async (after) => {
  const document = parse('mutation { n N again: n }');
  const run = async (execution: (root: Thing) => unknown) => {
    const read: string[] = [];
    const failing: Held = { value: null, fails: true, after };
    const root = new Proxy<Thing>(
      { n: { value: 1, fails: false, after }, N: failing },
      { get: (fields, name: string) => (read.push(name), fields[name]) },
    );
    expect(await execution(root)).toMatchObject({ data: null, errors: [{ path: ['N'] }] });
    return read;
  };
  const ours = await run((root) => plainExecutorOf(document)({ root }));
  expect(ours).toEqual(['n', 'N']);
  expect(ours).toEqual(await run((root) => execute({ schema, document, contextValue: { root } })));
});

test.each(['{ __proto__: __typename }', 'mutation { __proto__: __typename n }', 'mutation { __proto__: n }'])(
  'a field may be named __proto__: %s',
  async (text) => {
    const document = parse(text);
    const contextValue = { root: { n: { value: 1, fails: true, after: undefined } } };
    const { data } = await plainExecutorOf(document)(contextValue);
    expect(JSON.stringify(data)).toBe(JSON.stringify((await execute({ schema, document, contextValue })).data));
  },
);

test.each([['text'], [7], [{}], [true]])('%j in place of a list fails as in graphql-js', async (value) => {
  const document = parse('{ s o { n l { n } } }');
  const wrong: Held = { value, fails: false, after: undefined };
  const contextValue = { root: { s: wrong, o: { ...wrong, value: { l: wrong } } } };
  const { data, errors } = await plainExecutorOf(document)(contextValue);
  expect(data).toEqual({ s: null, o: { n: null, l: null } });
  expect(errors).toEqual((await execute({ schema, document, contextValue })).errors);
});

const incremental = parse(`{
  n o { n ... @defer { n s o { n ... @defer { l { n } } } } }
  l @stream(initialCount: 1) { n ... @defer { n o { n } } }
  ... @defer { s @stream o { n l @stream { ... @defer { s } } } }
}`);
/** The same with non-null fields. An error nulls less if it is in a deferred part. */
const strict = parse(
  print(incremental).replaceAll(/\b[nosl]\b/g, (name) => (name === 'l' ? name : name.toUpperCase())),
);

/** The deliveries of an execution, merged as a client does it. Fails if a part does not fit what was delivered before. */
async function merged(executed: ExecutionResult | AsyncIterable<Delivery>): Promise<ExecutionResult> {
  if (!(Symbol.asyncIterator in executed)) return executed;
  const response: { data: unknown; errors: GraphQLError[] } = { data: undefined, errors: [] };
  const open = new Set<Part>();
  const at = (path: readonly (string | number)[]) =>
    path.reduce((value, key) => (value as Record<string, unknown>)[key], response.data);
  let hasNext = true;
  for await (const delivery of executed) {
    expect(hasNext).toBe(true);
    ({ hasNext } = delivery);
    const { initial, results, announced } = delivery;
    if (initial) Object.assign(response, { data: initial.data, errors: [...(initial.errors ?? [])] });
    for (const { part, data, items, index, errors = [], isLast } of results) {
      expect(open.has(part)).toBe(true);
      if (isLast) open.delete(part);
      response.errors.push(...errors);
      const target = at(part.path) as object;
      if (data) mergeInto(target, data);
      if (items) {
        expect((target as unknown[]).length).toBe(index);
        (target as unknown[]).push(...items);
      }
    }
    for (const part of announced) {
      expect(at(part.path)).toBeInstanceOf(Object);
      open.add(part);
    }
    expect(open.size > 0).toBe(hasNext);
  }
  return response as ExecutionResult;
}

function mergeInto(target: object, from: object): void {
  for (const [key, value] of Object.entries(from)) {
    const known = (target as Record<string, unknown>)[key];
    if (typeof known === 'object' && known !== null && typeof value === 'object' && value !== null)
      mergeInto(known, value as object);
    else (target as Record<string, unknown>)[key] = value;
  }
}

test('deliveries merge to what graphql-js returns without directives', async () => {
  const document = withoutIncremental(incremental);
  await fc.assert(
    fc.asyncProperty(held, async ({ value }) => {
      const contextValue = { root: value ?? {} };
      const reference = await execute({ schema, document, contextValue });
      const ours = await merged(await executorOf(incremental)(contextValue));
      expect(ours.data).toEqual(reference.data);
      expect(nulledIn(ours)).toEqual(nulledIn(reference));
    }),
    { numRuns: thorough ? 200 : 50, seed: 1 },
  );
});

test('every delivery fits what was delivered before, whatever an error nulls', async () => {
  await fc.assert(
    fc.asyncProperty(held, async ({ value }) => void (await merged(await executorOf(strict)({ root: value ?? {} })))),
    { numRuns: thorough ? 200 : 50, seed: 1 },
  );
});

test('a deferred part runs when the data around it is whole, and not at all if an error nulls its object', async () => {
  const started: string[] = [];
  const given = (name: string, held: Partial<Held>): [string, Held] => [
    name,
    { fails: false, after: undefined, value: 1, ...held },
  ];
  const thing = (name: string, members: [string, Held][]) =>
    new Proxy<Thing>(Object.fromEntries(members), {
      get: (fields, key: string) => {
        if (key in fields) started.push(`${name}.${key}`);
        return fields[key];
      },
    });
  const root = thing('root', [
    given('o', { value: thing('o', [given('n', {}), given('N', { fails: true, after: 2 })]) }),
    given('l', { value: [{ value: thing('l', [given('n', {})]), fails: false, after: 0 }], after: 4 }),
  ]);
  const document = parse('{ o { N ... @defer { n } } l { ... @defer { n } } }');
  const { data, errors } = await merged(await executorOf(document)({ root }));
  expect(data).toEqual({ o: null, l: [{ n: 1 }] });
  expect(errors).toHaveLength(1);
  expect(started).toEqual(['root.o', 'o.N', 'root.l', 'l.n']);
});
