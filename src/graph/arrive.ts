import type { GraphQLSchema } from 'graphql';
export const connectFields = (schema: GraphQLSchema) => schema;
