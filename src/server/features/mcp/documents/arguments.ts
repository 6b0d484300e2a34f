/** The arguments of a tool, held to the schema that it promises: GraphQL takes more, such as one value where a list is wanted. */
import { badInput } from '../../../../engine/errors/to-client-error.ts';
import type { Variables } from '../../../../engine/plan/document.ts';
import { isPlainObject } from '../../../../lib/objects.ts';
import type { JsonSchema, ObjectSchema } from './json-schema.ts';

const types: Readonly<Record<string, { named: string; has: (value: unknown) => boolean }>> = {
  object: { named: 'an object', has: isPlainObject },
  array: { named: 'a list', has: Array.isArray },
  integer: { named: 'a whole number', has: Number.isInteger },
  number: { named: 'a number', has: (value) => typeof value === 'number' },
  boolean: { named: 'true or false', has: (value) => typeof value === 'boolean' },
  string: { named: 'a text', has: (value) => typeof value === 'string' },
};

/**
 * What was given, without null: hosts send it for what a model leaves out, so it must not clear anything. Throws a GraphQLError. An agent
 * that mistypes a name gets an error, where GraphQL would ignore it.
 */
export function checkedArguments(schema: ObjectSchema, given: Variables): Variables {
  const { properties, required = [] } = schema;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(properties, name));
  const known = Object.keys(properties).join(', ') || 'no others';
  if (unknown !== undefined)
    throw badInput(`There is no argument ${JSON.stringify(unknown.slice(0, 50))} among ${known}.`);
  const missing = required.find((name) => given[name] === undefined || given[name] === null);
  if (missing !== undefined) throw badInput(`The argument ${missing} is required.`, { argument: missing });
  return checked(schema, given, '') as Variables;
}

function checked(schema: JsonSchema, value: unknown, path: string): unknown {
  const [whole] = (schema.anyOf ?? [schema]) as [JsonSchema];
  if (value === null && schema.anyOf) return null;
  const { named, has } = types[whole.type as string]!;
  if (!has(value)) throw badInput(`The argument ${path} must be ${named}.`, { argument: path });
  const { items, properties } = whole as { items?: JsonSchema; properties?: Record<string, JsonSchema> };
  if (items) return (value as unknown[]).map((item, at) => checked(items, item, `${path}[${at}]`));
  if (!properties) return value;
  const members = Object.entries(value as Variables).map(([name, member]) => [
    name,
    Object.hasOwn(properties, name) ? checked(properties[name]!, member, (path && `${path}.${name}`) || name) : member,
  ]);
  return Object.fromEntries(members.filter(([name, member]) => member !== null || !properties[name as string]?.anyOf));
}
