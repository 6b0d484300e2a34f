/** Stands for `@apollo/client/react` in a build whose reads are counted: the data of its queries is tracked. */
import * as apollo from '../../examples/offline-apollo/node_modules/@apollo/client/react/index.js';
import { readsReport, trackReads } from '../../client/src/reads.ts';

Object.assign(globalThis, { readsReport });

export const { ApolloProvider, useApolloClient } = apollo;
export function useQuery(document, options) {
  const result = apollo.useQuery(document, options);
  return { ...result, data: trackReads(result.data, document) };
}
