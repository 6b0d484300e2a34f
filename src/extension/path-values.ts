/** The values that a program gives for the path and the query of a call. */
import { GraphQLError } from 'graphql';
import type { Endpoint } from '../api/endpoint.ts';
import { isOfCatalog } from '../api/service-descriptor.ts';

/** The error of a call of the program's service with a value that its request cannot carry; undefined if it can be made. */
export function inputProblem({ service, method, path, params }: Endpoint, input: object): GraphQLError | undefined {
  if (isOfCatalog(service)) return undefined;
  const values = input as Readonly<Record<string, unknown>>;
  const wrong =
    params.find((name) => !isText(values[name])) ?? Object.keys(values).find((name) => !isSent(values[name]));
  if (wrong === undefined) return undefined;
  return new GraphQLError(`No call was made: \`${wrong}\` of ${method} ${path} is ${shown(values[wrong])}.`, {
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  });
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' ? value !== '' : Number.isFinite(value) || typeof value === 'bigint';

/** A parameter of the query may be left out, be a flag, or have several values. */
const isSent = (value: unknown): boolean =>
  value == null ||
  value === '' ||
  typeof value === 'boolean' ||
  isText(value) ||
  (Array.isArray(value) && value.every(isText));

/** Not the value itself: it may be a secret. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return 'missing';
  return value === '' ? 'empty' : 'no text or number';
}
