/** A client that sends mutations with idempotency keys to a facade. */
export function keyedClient(url: string) {
  return async (
    body: string | FormData,
    key?: string,
    token = 'demo-alice',
    more: Record<string, string> = {},
    signal?: AbortSignal,
  ) => {
    const isForm = typeof body !== 'string';
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(isForm ? { 'x-graphql-csrf': '1' } : { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...more,
      },
      body,
      ...(signal && { signal }),
    });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions check the shape
    const result: any = await response.json();
    return {
      status: response.status,
      isReplayed: response.headers.get('idempotency-replayed') === 'true',
      code: result.errors?.[0]?.extensions?.code as string | undefined,
      result,
    };
  };
}
