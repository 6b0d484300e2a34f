/** The worst case of a document whoever sends it, with whatever variables: what hints are measured by where there is no request. */
import type { GraphQLSchema } from 'graphql';
import type { WorstOf } from './hints.ts';
import { anyCaller, worstCasesOfAny } from '../cost/cost-range.ts';

export const worstOfAny =
  (schema: GraphQLSchema, maxFields: number): WorstOf =>
  (document, operation) =>
    worstCasesOfAny({ schema, document, operation, maxFields, viewers: [anyCaller] }).reduce((a, b) =>
      b.calls.max > a.calls.max ? b : a,
    );
