import fc from 'fast-check';
import {
  Kind,
  type SelectionNode,
  isListType,
  getNullableType,
  parse,
  print,
  visit,
  visitWithTypeInfo,
  TypeInfo,
} from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { journey } from '../support/journey.ts';
import { thorough } from '../support/optional.ts';
import { mergeParts, partsOf } from '../support/pieces.ts';
import { isPlainObject } from '../../src/lib/objects.ts';
import { mulberry32, randomDocument } from '../support/selections.ts';

let healthy: Awaited<ReturnType<typeof journey>>;
let failing: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  const settings = { recordTtlSeconds: '0', maxDepth: '40', maxDirectives: '500', readAttempts: '1' };
  healthy = await journey(settings);
  // Some paths always have status 404, some always 500.
  failing = await journey({ ...settings, breakerFailures: '1000' }, (path) => {
    const share = [...path].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7) % 10;
    return share === 0 ? 404 : share === 1 ? 500 : undefined;
  });
});

const directive = (name: string) => ({
  kind: Kind.DIRECTIVE as const,
  name: { kind: Kind.NAME as const, value: name },
});

/** Defers some of the selections, and streams some of the lists. */
function withDirectives(query: string, seed: number): string {
  const random = mulberry32(seed);
  const info = new TypeInfo(schema);
  const document = visit(
    parse(query),
    visitWithTypeInfo(info, {
      Field: {
        leave(node) {
          const type = info.getType();
          if (!type || !node.selectionSet || !isListType(getNullableType(type)) || random() > 0.3) return undefined;
          return { ...node, directives: [...(node.directives ?? []), directive('stream')] };
        },
      },
      SelectionSet: {
        leave(node) {
          const now: SelectionNode[] = [];
          const later: SelectionNode[] = [];
          for (const selection of node.selections) (random() < 0.25 ? later : now).push(selection);
          if (later.length === 0) return undefined;
          const part = {
            kind: Kind.INLINE_FRAGMENT as const,
            directives: [directive('defer')],
            selectionSet: { kind: Kind.SELECTION_SET as const, selections: later },
          };
          return { ...node, selections: [...now, part] };
        },
      },
    }),
  );
  return print(document);
}

async function execute(
  at: typeof healthy,
  query: string,
  variables: object,
  explain: string,
): Promise<GraphQLResponse> {
  const response = await fetch(`${at.facade.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'multipart/mixed, application/json',
      authorization: 'Bearer demo-alice',
      'x-explain': explain,
    },
    body: JSON.stringify({ query, variables }),
  });
  return mergeParts(await partsOf(response));
}

/** Codes and positions of errors. A tier error is reported once for each field in each part, wherever it occurs first. */
const failures = ({ errors = [] }: GraphQLResponse): string[] =>
  [
    ...new Set(
      errors.map(
        ({ path = [], extensions: { code, coordinate } }) =>
          `${code === 'TIER_REQUIRED' ? String(coordinate) : path.join('.')} ${String(code)}`,
      ),
    ),
  ].sort();

/** Fields by which a client names an object that is null if every call made for it says that there is none. */
const named = ['user', 'city', 'series', 'node', 'nodes'];

/**
 * The data of the parts. What deferred fragments load comes too late to say that there is such an object, or none, and by which id the
 * service knows a person that the client named: then it is as in the plain response.
 */
function withLateExistence(query: string, sent: GraphQLResponse['data'], whole: GraphQLResponse['data']): unknown {
  if (!sent || !whole) return sent;
  const data = { ...sent } as Record<string, unknown>;
  const right = whole as Record<string, unknown>;
  const differs = (one: unknown, other: unknown) => (one === null) !== (other === null);
  const isAsSent = (value: unknown) =>
    typeof value === 'string' && new RegExp(`"(?:User:)?${value.replace(/^User:/, '')}"`).test(query);
  const late = (got: unknown, wanted: unknown): unknown => {
    if (differs(got, wanted)) return wanted;
    if (!isPlainObject(got) || !isPlainObject(wanted)) return got;
    return Object.fromEntries(Object.entries(got).map(([key, value]) => [key, isAsSent(value) ? wanted[key] : value]));
  };
  visit(parse(query), {
    Field(node) {
      const key = node.alias?.value ?? node.name.value;
      const [got, wanted] = [data[key], right[key]];
      if (!named.includes(node.name.value)) return false;
      if (Array.isArray(got) && Array.isArray(wanted)) data[key] = got.map((item, at) => late(item, wanted[at]));
      else if (key in data) data[key] = late(got, wanted);
      return false;
    },
  });
  return data;
}

const callsOf = ({ extensions }: GraphQLResponse) =>
  (extensions as { upstream: { calls: unknown[] } }).upstream.calls.length;

test.each([
  ['', () => healthy],
  [', with a service that partly fails', () => failing],
])(
  'incremental responses merge to the plain response, with at most the planned calls%s',
  async (_, setupOf) => {
    const at = setupOf();
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const { query, variables } = randomDocument(schema, seed, { depth: 5, first: 3 });
        const incremental = withDirectives(query, seed);
        if (!/@(?:defer|stream)/.test(incremental)) return;
        const whole = await execute(at, query, variables, 'trace');
        if (!whole.extensions?.upstream) return; // rejected: too deep or too many calls
        const plan = await execute(at, incremental, variables, 'plan');
        const pieces = await execute(at, incremental, variables, 'trace');
        if (pieces.errors?.some(({ extensions }) => /^TOO_/.test(String(extensions.code)))) return;
        compared++;
        const data = withLateExistence(incremental, pieces.data, whole.data);
        expect({ incremental, data }).toEqual({ incremental, data: whole.data as unknown });
        expect({ incremental, failures: failures(pieces) }).toEqual({ incremental, failures: failures(whole) });
        const { max } = (plan.extensions as { upstream: { max: number } }).upstream;
        expect({ incremental, calls: callsOf(pieces) }).toSatisfy(
          ({ calls }: { calls: number }) => calls <= max,
          `at most ${max}`,
        );
      }),
      { numRuns: Number(process.env.DEFER_RUNS ?? (thorough ? 60 : 20)), seed: Number(process.env.DEFER_SEED ?? 1) },
    );
    expect(compared).toBeGreaterThan(thorough ? 20 : 6);
  },
  300_000,
);
