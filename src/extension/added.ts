/** What the options `extend` and `services` of `createFacade` add. */
import type { GraphQLSchema } from 'graphql';
import { isOfCatalog } from '../api/service-descriptor.ts';
import { ConfigError } from '../config/read.ts';
import { fieldRule, typeRule } from '../engine/plan/read-declarations.ts';
import type { AddedParts } from '../server/core.ts';
import { addedFields } from './declared-problems.ts';
import { joinServices } from './joined.ts';
import { type Extend, extendedSchema } from './schema.ts';
import { type AddedService, serviceProblems } from './service.ts';

/** Throws a ConfigError if they cannot be used. */
export function addedParts(extend: Extend | undefined, services: readonly AddedService[] = []): AddedParts {
  const problems = serviceProblems(services);
  if (problems.length > 0) throw new ConfigError(problems);
  const schema = extend === undefined ? undefined : extendedSchema(extend);
  const unknown = schema ? unknownServices(schema, services) : [];
  if (unknown.length > 0) throw new ConfigError(unknown);
  const join: AddedParts['join'] = (catalog, ...made) => joinServices(catalog, services, ...made);
  return { schema, join: services.length > 0 ? join : undefined };
}

/** The fields and types of which the option `services` lacks the service. */
function unknownServices(schema: GraphQLSchema, services: readonly AddedService[]): string[] {
  const isKnown = (name: string) => isOfCatalog(name) || services.some((service) => service.name === name);
  const problems = new Set<string>();
  for (const { type, field, coordinate } of addedFields(schema)) {
    const { endpoint, endpoints = [] } = fieldRule(field);
    const { record } = typeRule(type);
    const called = [...(typeof endpoint === 'object' ? [endpoint] : endpoints), ...(record ? [record.endpoint] : [])];
    for (const { service } of called)
      if (!isKnown(service)) problems.add(`${coordinate} calls the service ${service}, which services lacks`);
  }
  return [...problems];
}
