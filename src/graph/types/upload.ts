import { GraphQLError, GraphQLScalarType } from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import { builder } from '../engine/builder.ts';

builder.addScalarType(
  'Upload',
  new GraphQLScalarType<Upload['promise'], never>({
    name: 'Upload',
    description:
      'A file of a GraphQL multipart request, sent as a variable that is null in `operations` and named in `map`.',
    specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
    parseValue: (value) => {
      if (value instanceof Upload) return value.promise;
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
