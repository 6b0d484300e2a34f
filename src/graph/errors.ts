import { GraphQLError } from 'graphql';

/** Input that is known to be wrong before any call. */
export const badInput = (message: string, extensions: object = {}): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', ...extensions } });
