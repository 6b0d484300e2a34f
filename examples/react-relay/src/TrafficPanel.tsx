import { useEffect, useState } from 'react';
import { finishedTraffic, inWords, loadByRest, type Traffic } from '../../shared/traffic.ts';
import { TOKEN } from './environment.ts';

/** What this page transferred, beside what the same page transfers by REST. */
export function TrafficPanel({ book, since }: { book: string; since: number }) {
  const [measured, setMeasured] = useState<{ graph: Traffic; rest: Traffic }>();
  useEffect(() => {
    let isGone = false;
    const measure = async () => {
      const rest = await loadByRest(book, TOKEN);
      const graph = await finishedTraffic('/graphql', since);
      if (!isGone) setMeasured({ graph, rest });
    };
    measure().catch((error: unknown) => console.error('Nothing to compare with:', error));
    return () => {
      isGone = true;
    };
  }, [book, since]);
  if (!measured) return null;
  const { graph, rest } = measured;
  return (
    <section className="card measure" aria-labelledby="traffic">
      <h2 id="traffic">What this page transferred</h2>
      <dl className="traffic">
        <dt>GraphQL</dt>
        <dd id="graph" data-bytes={graph.bytes}>
          {inWords(graph)}
        </dd>
        <dt>The same by REST</dt>
        <dd id="rest" data-bytes={rest.bytes}>
          {inWords(rest)}
        </dd>
      </dl>
      <p className="soft">Bodies of responses, as sent over the wire. The facade compresses, the service does not.</p>
    </section>
  );
}
