import SchemaBuilder from '@pothos/core';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTime, GraphQLURL } from 'graphql-scalars';
import { Upload } from 'graphql-upload-minimal';
import type { ResolverContext } from './context.ts';
import type { UploadedFile } from './values/uploaded-file.ts';
import './plan/declarations-plugin.ts';
import { asLocalDateTime } from './values/decode.ts';
import { LOCAL_ZONE, inZone, wholeSeconds } from './values/iso-time.ts';

interface GraphTypes {
  Context: ResolverContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    LocalDateTime: { Input: string; Output: string };
    URL: { Input: string; Output: string };
    Upload: { Input: UploadedFile; Output: never };
  };
}

export type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>;
/** The builder of the fields of an input. */
export type InputBuilder = PothosSchemaTypes.InputFieldBuilder<BuilderTypes, 'InputObject'>;

export const builder = new SchemaBuilder<GraphTypes>({ plugins: ['declarations'], defaultFieldNullability: false });

builder.queryType({ description: 'The root of all queries.' });
builder.addScalarType(
  'DateTime',
  new GraphQLScalarType({
    ...GraphQLDateTime.toConfig(),
    description:
      'A point in time as RFC 3339 text in whole seconds, with an offset: `2026-12-18T19:30:00+08:00`. Of an input, a fraction of a second is dropped, and a `LocalDateTime` is taken in its zone, +08:00.',
    specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc3339',
    serialize: (value) => wholeSeconds(String(value)),
    ...inputOf(
      'A DateTime must be RFC 3339 text with an offset, 2026-12-18T19:30:00+08:00, or a LocalDateTime.',
      (value) => {
        const local = typeof value === 'string' && /^\S+$/.test(value) && asLocalDateTime(value);
        const instant = local ? local + LOCAL_ZONE : instantOf(value);
        return instant && wholeSeconds(instant);
      },
    ),
  }),
);
builder.addScalarType(
  'LocalDateTime',
  new GraphQLScalarType({
    name: 'LocalDateTime',
    description:
      'A date and time as the service writes it, without an offset: `2026-12-18T19:30:00`. The service says no zone; it is known to be +08:00. ' +
      'Show it as it is, or read it with `+08:00` behind it: a program that reads it alone takes it for its own zone. As an input, a time with an offset is taken too.',
    specifiedByURL: 'https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#local-dates-and-times',
    serialize: String,
    ...inputOf('A LocalDateTime must be a date and a time: 2026-12-18T19:30:00.', (value) => {
      const instant = instantOf(value);
      return asLocalDateTime(value) ?? (instant && inZone(instant));
    }),
  }),
);
builder.addScalarType(
  'URL',
  new GraphQLScalarType({
    ...GraphQLURL.toConfig(),
    specifiedByURL: 'https://url.spec.whatwg.org/',
    description: 'An http or https URL, as the service returns it; `https:` is added to one that begins with `//`.',
    // The library's own serializer would normalize it: https://a.example becomes https://a.example/
    serialize: String,
  }),
);
builder.addScalarType(
  'Upload',
  new GraphQLScalarType<UploadedFile, never>({
    name: 'Upload',
    description:
      'A file of a GraphQL multipart request, sent as a variable that is null in `operations` and named in `map`.',
    specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
    parseValue: (value) => {
      // The reader of requests has put it there.
      if (value instanceof Upload) return value.file as unknown as UploadedFile;
      throw new GraphQLError('An Upload must be a file of a multipart request.', {
        extensions: { code: 'BAD_USER_INPUT' },
      });
    },
    parseLiteral: (node) => {
      throw new GraphQLError('An Upload must be a file of a multipart request, sent in a variable.', { nodes: node });
    },
    serialize: () => {
      throw new GraphQLError('An Upload cannot be returned.');
    },
  }),
);

/** How a scalar reads inputs; `read` gives null for a value that is not valid. */
function inputOf(must: string, read: (value: unknown) => string | null) {
  const parse = (value: unknown, node?: ValueNode) => {
    const text = read(value);
    if (text !== null) return text;
    throw new GraphQLError(must, { nodes: node ?? null, extensions: { code: 'BAD_USER_INPUT' } });
  };
  return {
    parseValue: (value: unknown) => parse(value),
    parseLiteral: (node: ValueNode) => parse(node.kind === Kind.STRING ? node.value : null, node),
  };
}

/** A time with an offset as it is written: the value of the library is a `Date`, which has lost the offset. */
function instantOf(value: unknown): string | null {
  try {
    const stamp = (value as string).trim().replace(' ', 'T');
    return GraphQLDateTime.parseValue(stamp) && stamp;
  } catch {
    return null;
  }
}
