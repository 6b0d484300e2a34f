/** What a page has transferred. */
export interface Traffic {
  requests: number;
  bytes: number;
}

/** The requests to a path of this host since a moment, and the bytes of their bodies on the wire, as the browser counted them. */
export function trafficOf(path: '/graphql' | '/rest', since: number): Traffic {
  const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const ours = entries.filter((entry) => entry.startTime >= since && new URL(entry.name).pathname.startsWith(path));
  return { requests: ours.length, bytes: ours.reduce((sum, entry) => sum + entry.encodedBodySize, 0) };
}

/** The same, once the browser has counted it: it does so when the last byte of a response has arrived. */
export async function finishedTraffic(path: '/graphql' | '/rest', since: number): Promise<Traffic> {
  for (let times = 0; times < 100; times++) {
    const traffic = trafficOf(path, since);
    if (traffic.bytes > 0) return traffic;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return trafficOf(path, since);
}

/** Loads a book's page from the REST interface: the book, its series, its annotations, the shelf. */
export async function loadByRest(book: string, token: string): Promise<Traffic> {
  const since = performance.now();
  const get = async (path: string) => {
    const response = await fetch(`/rest${path}`, { headers: { authorization: `Bearer ${token}` }, cache: 'no-store' });
    return (await response.json()) as { series?: { id: string } };
  };
  const [{ series }] = await Promise.all([
    get(`/v2/book/${book}`),
    get(`/v2/book/${book}/annotations?count=5`),
    get(`/v2/book/${book}/collection`),
  ]);
  if (series) await get(`/v2/book/series/${series.id}/books?count=6`);
  return trafficOf('/rest', since);
}

/** "1 request, 2.1 kB". */
export const inWords = ({ requests, bytes }: Traffic): string =>
  `${requests} ${requests === 1 ? 'request' : 'requests'}, ${(bytes / 1_000).toFixed(1)}\u00a0kB`;
