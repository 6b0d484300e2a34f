/** Looks at every response of every test: no object has two values in one field of it. */
import { type DocumentNode, Kind, type OperationDefinitionNode, getVariableValues } from 'graphql';
import { schema } from '../../src/graph/schema.ts';
import type { Feature } from '../../src/server/feature.ts';
import { isWhole } from '../../src/server/graphql/outcome.ts';
import { type Conflict, Identities, claimsIn } from '../oracle/identity.ts';
import type { Shown } from '../oracle/invariants.ts';

const conflicts: Conflict[] = [];

/** Notes the fields of which an object has two values. A mutation of several writes shows it before and after them. */
export function requireOneValue(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  response: Shown,
): void {
  if (operation.operation === 'mutation' && operation.selectionSet.selections.length > 1) return;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: 1 });
  if (!coerced) return; // nothing was run
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const ran: DocumentNode = { ...document, definitions: [operation, ...fragments] };
  const identities = new Identities();
  conflicts.push(...identities.add(claimsIn({ document: ran, variables: coerced }, response), 'the same response'));
}

/** What was found since the last time. */
export const takeConflicts = (): Conflict[] => conflicts.splice(0);

/** Looks at what a server sends whole, whoever its clients are. */
export const oneValue: Feature = {
  around: (run) => async (prepared, request, writes) => {
    const outcome = await run(prepared, request, writes);
    const { ready } = prepared;
    if (ready && isWhole(outcome))
      requireOneValue(ready.document, ready.operation, request.variables ?? {}, outcome.result as Shown);
    return outcome;
  },
};
