import type { MockInstance } from 'vitest';

/** The only list of a response: records nest it at `data.<record>.<list>`. */
interface Body {
  data: Record<string, Record<string, { edges: object[] } | string>>;
}

const edgesIn = ({ data }: Body): object[] =>
  Object.values(Object.values(data)[0]!).flatMap((list) => (typeof list === 'string' ? [] : [list.edges]))[0]!;

/** Each call takes the next response: the second begins with the last edge of the first, as after an insertion into the list. */
export function overlap(requests: MockInstance<typeof fetch>): () => void {
  let last: object | undefined;
  const send: typeof fetch = async (...request) => {
    const body = (await (await fetch(...request)).json()) as Body;
    const edges = edgesIn(body);
    if (last) edges.unshift(last);
    last = edges.at(-1);
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  };
  return () => void requests.mockImplementationOnce(send);
}
