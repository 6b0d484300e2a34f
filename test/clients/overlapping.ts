import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';
import type { MockInstance } from 'vitest';

interface List {
  edges: object[];
  nodes?: object[];
}

/** The only list of a response is at `data.<record>.<list>`. */
interface Body {
  data: Record<string, Record<string, List | string>>;
}

const listIn = ({ data }: Body): List =>
  Object.values(Object.values(data)[0]!).find((member): member is List => typeof member === 'object')!;

/** Each call takes the next response: the second begins with the last item of the first, as after an insertion into the list. */
export function overlap(requests: MockInstance<typeof fetch>): () => void {
  let last: { edge: object; node: object | undefined } | undefined;
  const send: typeof fetch = async (...request) => {
    const body = (await (await fetch(...request)).json()) as Body;
    const { edges, nodes } = listIn(body);
    if (last) edges.unshift(last.edge);
    if (last?.node) nodes?.unshift(last.node);
    last = { edge: edges.at(-1)!, node: nodes?.at(-1) };
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  };
  return () => void requests.mockImplementationOnce(send);
}

interface OverlappingPages {
  book: { annotations: Record<'edges' | 'nodes', object[]> & { pageInfo: { endCursor: string } } };
}
export const OverlappingDocument: TypedDocumentNode<OverlappingPages, { after?: string | null }> = parse(`
  query Overlapping($after: String) {
    book(id: "6082808") {
      id
      __typename
      annotations(order: RANK, first: 10, after: $after) {
        __typename
        edges { __typename node { __typename id } }
        nodes { __typename id }
        pageInfo { __typename endCursor hasNextPage }
      }
    }
  }
`);

/** The ids of the items, as the edges and as the nodes have them. */
export const idsIn = ({ book: { annotations } }: OverlappingPages): string[][] => {
  const nodes = annotations.edges.map((edge) => (edge as { node: { id: string } }).node);
  return [nodes, annotations.nodes as { id: string }[]].map((items) => items.map(({ id }) => id));
};
