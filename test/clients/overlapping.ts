import type { MockInstance } from 'vitest';

interface Body {
  data: { book: { annotations: { edges: object[] } } };
}

/** Each call takes the next response: the second begins with the last edge of the first, as after an insertion into the list. */
export function overlap(requests: MockInstance<typeof fetch>): () => void {
  let last: object | undefined;
  const send: typeof fetch = async (...request) => {
    const body = (await (await fetch(...request)).json()) as Body;
    const { edges } = body.data.book.annotations;
    if (last) edges.unshift(last);
    last = edges.at(-1);
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  };
  return () => void requests.mockImplementationOnce(send);
}
