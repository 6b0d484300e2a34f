/** The schema with the types and fields that an embedding program adds. The builder is one for a process, and so is what it adds. */
import { type GraphQLField, type GraphQLSchema, getNamedType } from 'graphql';
import { ConfigError } from '../config/read.ts';
import { builder } from '../engine/builder.ts';
import type { ResolverContext } from '../engine/context.ts';
import type { FieldRule } from '../engine/plan/declaration-types.ts';
import { fieldRule, nodeTypeOf, typeRule } from '../engine/plan/read-declarations.ts';
import { buildSchema, schema as ofCatalog } from '../graph/schema.ts';
import { addedFields, declaredProblems } from './declared-problems.ts';

export type Extend = (to: typeof builder) => void;

/** What the first facade of this process with `extend` has made of it. */
let made: { by: Extend; schema: GraphQLSchema | ConfigError } | undefined;

/** Throws a ConfigError if it cannot be added, or does not say what it costs. The schema of facades without `extend` stays as it is. */
export function extendedSchema(extend: Extend): GraphQLSchema {
  if (typeof extend !== 'function') throw new ConfigError(['extend must be a function of the builder']);
  if (made && made.by !== extend) throw new ConfigError([ONE_A_PROCESS]);
  made ??= { by: extend, schema: build(extend) };
  if (made.schema instanceof ConfigError) throw made.schema;
  return made.schema;
}

const ONE_A_PROCESS =
  'extend is another function than that of an earlier facade: types are declared once for a process, so all its facades that extend the graph must be given the same function';

/** The error is kept: what was declared before it stays declared. */
function build(extend: Extend): GraphQLSchema | ConfigError {
  try {
    const result: unknown = extend(builder);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return new ConfigError(['extend must not be asynchronous: what it declares later is not in the schema']);
    }
    const extended = buildSchema();
    const problems = [...declaredProblems(extended), ...undeclaredCosts(extended)];
    if (problems.length > 0) return new ConfigError(problems);
    for (const { field } of addedFields(extended)) {
      const rule = fieldRule(field);
      if (rule.maxCalls !== undefined) keepUnshared(field);
      const shown = nodeTypeOf(field) ?? getNamedType(field.type);
      // A service says all that it has of its own records. Of others it may say a part: the rest is loaded.
      if (!rule.endpoint || ofCatalog.getType(shown.name)) rule.representation ??= { members: ['id'] };
    }
    return extended;
  } catch (error) {
    return error instanceof ConfigError ? error : new ConfigError([`extend cannot be used: ${String(error)}`]);
  }
}

/** Nobody knows for whom a resolver of the program reads, even one that makes no calls: the program may know the caller. */
function keepUnshared(field: GraphQLField<unknown, unknown>): void {
  const { resolve } = field;
  if (!resolve) return;
  field.resolve = (parent, args: unknown, context, info) => {
    (context as ResolverContext).upstream.cachePolicy.restrict(null);
    return resolve(parent, args, context, info);
  };
}

function undeclaredCosts(extended: GraphQLSchema): string[] {
  const problems: string[] = [];
  for (const { type, field, coordinate } of addedFields(extended)) {
    const rule = fieldRule(field);
    if (typeRule(type).isWrapper || !field.resolve) continue;
    if (rule.maxCalls !== undefined) problems.push(...wrongMaximum(coordinate, rule));
    else if (!rule.endpoint && !rule.needs && !rule.writeEndpoint) problems.push(`${coordinate} ${COST_UNKNOWN}`);
  }
  return problems;
}

const COST_UNKNOWN =
  'has a resolver of its own and does not say what it costs: declare what it reads or calls with t.reads, t.computed, t.record, t.call or t.connection, or set maxCalls to the most calls that one run of the resolver makes, 0 if it makes none';

function wrongMaximum(coordinate: string, { maxCalls, endpoint, writeEndpoint }: FieldRule): string[] {
  if (writeEndpoint) return [];
  if (endpoint) return [`${coordinate} calls an endpoint, which counts its calls: leave out maxCalls`];
  const isCount = typeof maxCalls === 'number' && Number.isSafeInteger(maxCalls) && maxCalls >= 0;
  return isCount ? [] : [`maxCalls of ${coordinate} must be a whole number from 0`];
}
