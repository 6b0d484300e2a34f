/** What an operation may cost whatever its variables are: the worst case over all their values. */
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  getNamedType,
  isEnumType,
  typeFromAST,
  visit,
} from 'graphql';
import { filmEndpoints } from '../../api/film.ts';
import { worstCaseOf } from './call-cost.ts';
import { planOperation } from './plan-operation.ts';
import { hasVariable } from './document.ts';
import { FIRST_MAX } from '../types/paging.ts';

/** The most upstream calls that one run may make, retries not counted. */
export interface Price {
  catalog: number;
  event: number;
  /** Calls of the catalog that count towards the rate limit of the basic film tier. */
  film: number;
}

const filmCalls = new Set(Object.values(filmEndpoints).map(({ method, path }) => `${method} ${path}`));

/** An operation that may cost more than `maxCalls` with some variables is rejected with these, so that is the most. */
export function priceOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  maxCalls: number,
): Price {
  const whole = unconditional(document);
  const main = whole.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!;
  const viewer = { isLoggedIn: true, filmTier: null };
  const variables = dearestVariables(schema, operation);
  const { calls } = worstCaseOf(planOperation(schema, whole, main, viewer, variables), variables);
  const most = namesRecordsByVariable(document) ? maxCalls : Infinity;
  const film = calls.fields.reduce((sum, { endpoint, max }) => (filmCalls.has(endpoint) ? sum + max : sum), 0);
  const catalog = most === Infinity ? calls.services.catalog.max : most;
  const event = most === Infinity ? calls.services.event.max : most;
  return {
    catalog: Math.min(catalog, maxCalls),
    event: Math.min(event, maxCalls),
    film: Math.min(most === Infinity ? film : most, maxCalls),
  };
}

/** Includes everything that a variable may leave out: a selection with more fields never costs less. */
function unconditional(document: DocumentNode): DocumentNode {
  return visit(document, {
    Directive: ({ name }) => (name.value === 'include' || name.value === 'skip' ? null : undefined),
  });
}

/** `first` at its limit, and a value for the rest: an argument with a value is never answered by an embedded first page. */
function dearestVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.map(({ variable, type }) => {
      const named = getNamedType(typeFromAST(schema, type as never));
      const name = variable.name.value;
      if (isEnumType(named)) return [name, named.getValues()[0]?.value];
      if (named?.name === 'Int') return [name, FIRST_MAX];
      if (named?.name === 'Boolean') return [name, true];
      return [name, type.kind === Kind.LIST_TYPE ? ['x'] : 'x'];
    }),
  );
}

/** `node` and `nodes` cost what the types of the given ids cost. */
function namesRecordsByVariable(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field: ({ name, arguments: given = [] }) => {
      if (/^nodes?$/.test(name.value) && given.some(({ value }) => hasVariable(value))) found = true;
    },
  });
  return found;
}
