/** Tells at the start which trusted documents can never run: they are not valid, or exceed a limit whatever their variables are. */
import {
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  getNamedType,
  isEnumType,
  parse,
  typeFromAST,
} from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import type { Variables } from '../../graph/plan/document.ts';
import { type Prepare, createPrepare } from './prepare.ts';

interface RejectedOperation {
  /** Its name; the id of the document if it has none. */
  operation: string;
  problem: string;
}

/** How many operations the log names. */
const NAMED_MAX = 20;

export function checkManifest(schema: GraphQLSchema, config: Config, log: Logger): void {
  // Its caches are not those of the server: what may never be requested must not evict what is.
  const prepare = createPrepare(schema, config);
  const rejected = [...config.trustedDocuments].flatMap(([id, text]) => rejectedIn(schema, prepare, id, text));
  if (rejected.length === 0) return;
  const operations = rejected.slice(0, NAMED_MAX);
  const texts = operations.map(({ operation, problem }) => `${operation}: ${problem}`);
  const more = rejected.length - operations.length;
  log.warn(
    { operations, more: more || undefined },
    `Operations of PERSISTED_OPERATIONS that are always rejected: ${texts.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`,
  );
}

function rejectedIn(schema: GraphQLSchema, prepare: Prepare, id: string, text: string): RejectedOperation[] {
  const operations = parse(text).definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const isOnly = operations.length <= 1;
  return (isOnly ? [undefined] : operations.map(({ name }) => name?.value)).flatMap((name, at) => {
    const error = errorOf(schema, prepare, text, name);
    const operation = operations[at]?.name?.value ?? id;
    return error ? [{ operation, problem: error.message }] : [];
  });
}

function errorOf(schema: GraphQLSchema, prepare: Prepare, text: string, name?: string): GraphQLError | undefined {
  const { errors, ready } = prepare(text, name);
  if (!ready) return errors[0];
  const { coerced, errors: notGiven } = ready.coerce(leastVariables(schema, ready.operation));
  if (notGiven) return undefined; // an input object that the caller has to know
  const plan = ready.planner.planFor({ isLoggedIn: true, filmTier: null }, coerced);
  return plan instanceof Error ? plan : undefined;
}

/** The cheapest value of each variable that must be given. */
function leastVariables(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): Variables {
  const required = variableDefinitions.filter(
    ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue,
  );
  return Object.fromEntries(
    required.map(({ variable, type }) => {
      const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
      if (inner.kind === Kind.LIST_TYPE) return [variable.name.value, []];
      const named = getNamedType(typeFromAST(schema, type as never));
      const plain: Record<string, unknown> = { Int: 1, Float: 1, Boolean: false };
      return [variable.name.value, isEnumType(named) ? named.getValues()[0]?.name : (plain[named?.name ?? ''] ?? '1')];
    }),
  );
}
