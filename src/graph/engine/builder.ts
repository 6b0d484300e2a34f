import SchemaBuilder from '@pothos/core';
import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { GraphQLLocalDateTime, GraphQLURL } from 'graphql-scalars';
import type { FileUpload } from 'graphql-upload-minimal';
import type { Operation } from '../../upstream/operation.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { ResponseLimits } from './response-size.ts';
import { asDateTime } from '../types/decode.ts';
import type { OperationPlan } from './operation-plan.ts';

/** What a resolver of one operation may reach: made per request, never global. */
export interface Context {
  viewer: Viewer;
  /** The service, as this operation's caller sees it. */
  upstream: Operation;
  /** What the document reads and calls, worked out before it runs. */
  plan: OperationPlan;
  /** Pictures that one mutation takes. */
  maxPictures: number;
  /** Limits on the size of the response; undefined for none. */
  responseLimits?: ResponseLimits;
}

export interface GraphTypes {
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    LocalDateTime: { Input: string; Output: string };
    URL: { Input: string; Output: string };
    Upload: { Input: Promise<FileUpload>; Output: never };
  };
}

/** Where the fields of an input are declared. */
export type InputBuilder = PothosSchemaTypes.InputFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>,
  'InputObject'
>;

export const builder = new SchemaBuilder<GraphTypes>({ defaultFieldNullability: false });

builder.queryType({ description: 'Where every question begins.' });
builder.mutationType({
  description:
    'What a person who is logged in may change. Each mutation is one write of the service, never repeated. Its rules are checked before ' +
    'that: all that an input breaks is told at once, in `extensions.violations` of the error, by the path of the field, code, limit and actual value.',
});

builder.addScalarType(
  'DateTime',
  new GraphQLScalarType({
    name: 'DateTime',
    description: 'A moment as RFC 3339 text, the offset kept as its writer gave it: `2026-12-18T19:30:00+08:00`.',
    specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc3339',
    serialize: String,
    parseValue: parseDateTime,
    parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : null),
  }),
);
builder.addScalarType(
  'LocalDateTime',
  new GraphQLScalarType({
    ...GraphQLLocalDateTime.toConfig(),
    description: "A date and time without a zone, `2026-12-18T19:30:00`: the service's own time, which is +08:00.",
  }),
);
builder.addScalarType(
  'URL',
  new GraphQLScalarType({
    ...GraphQLURL.toConfig(),
    description: 'An http or https address, as the service wrote it.',
    // The library's own would rewrite what it was given: https://a.example becomes https://a.example/
    serialize: String,
  }),
);

function parseDateTime(value: unknown): string {
  const moment = asDateTime(value);
  if (!moment) {
    throw new GraphQLError('A DateTime is RFC 3339 text with an offset: 2026-12-18T19:30:00+08:00.', {
      extensions: { code: 'BAD_USER_INPUT' },
    });
  }
  return moment;
}
