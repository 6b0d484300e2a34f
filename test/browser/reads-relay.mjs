/** Stands for `react-relay` in a build whose reads are counted: what its hooks return is tracked. */
import * as relay from '../../examples/react-relay/node_modules/react-relay/index.js';
import { readsReport, trackReads } from '../../client/src/reads.ts';

Object.assign(globalThis, { readsReport });

const tracking =
  (hook) =>
  (document, ...rest) =>
    trackReads(hook(document, ...rest), document);

export const { RelayEnvironmentProvider, graphql, useMutation } = relay;
export const useFragment = tracking(relay.useFragment);
export const useLazyLoadQuery = tracking(relay.useLazyLoadQuery);
export function usePaginationFragment(document, book) {
  const list = relay.usePaginationFragment(document, book);
  return { ...list, data: trackReads(list.data, document) };
}
