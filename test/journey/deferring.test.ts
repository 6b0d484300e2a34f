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
import type { Shown } from '../support/facade.ts';
import { journey } from '../support/journey.ts';
import { merged, piecesOf } from '../support/pieces.ts';
import { mulberry32, randomDocument } from '../support/selections.ts';

let cold: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  cold = await journey({ recordTtlSeconds: '0', maxDepth: '40' });
});

const directive = (name: string) => ({
  kind: Kind.DIRECTIVE as const,
  name: { kind: Kind.NAME as const, value: name },
});

/** The document with some of its selections deferred, and some of its lists streamed. */
function divided(query: string, seed: number): string {
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

async function asked(query: string, variables: object, explain: string): Promise<Shown> {
  const response = await fetch(`${cold.facade.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'multipart/mixed, application/json',
      authorization: 'Bearer demo-alice',
      'x-explain': explain,
    },
    body: JSON.stringify({ query, variables }),
  });
  return merged(await piecesOf(response));
}

/** Where errors stand, and which: that the items of a list say the same is told once in each piece. */
const failures = ({ errors = [] }: Shown): string[] =>
  [
    ...new Set(
      errors.map(
        ({ path = [], extensions }) =>
          `${path.filter((key) => typeof key === 'string').join('.')} ${String(extensions.code)}`,
      ),
    ),
  ].sort();

const callsOf = ({ extensions }: Shown) => (extensions as { upstream: { calls: unknown[] } }).upstream.calls.length;

test('whatever is deferred or streamed, the pieces make the undivided answer, at the planned calls', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const { query, variables } = randomDocument(schema, seed, { depth: 5, first: 3 });
      const question = divided(query, seed);
      if (!/@(?:defer|stream)/.test(question)) return;
      const whole = await asked(query, variables, 'trace');
      if (!whole.extensions?.upstream) return; // refused: too deep, too dear
      const plan = await asked(question, variables, 'plan');
      const pieces = await asked(question, variables, 'trace');
      if (pieces.errors?.some(({ extensions }) => extensions.code === 'TOO_MANY_CALLS')) return;
      compared++;
      expect({ question, data: pieces.data as unknown }).toEqual({ question, data: whole.data as unknown });
      expect({ question, failures: failures(pieces) }).toEqual({ question, failures: failures(whole) });
      const { max } = (plan.extensions as { upstream: { max: number } }).upstream;
      expect({ question, calls: callsOf(pieces) }).toSatisfy(
        ({ calls }: { calls: number }) => calls <= max,
        `at most ${max}`,
      );
    }),
    { numRuns: Number(process.env.DEFER_RUNS ?? 60), seed: Number(process.env.DEFER_SEED ?? 1) },
  );
  expect(compared).toBeGreaterThan(20);
}, 300_000);
