/** CPU an operation in the pipeline alone: no sockets, answers at once. For profiles. */
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { schema } from '../src/graph/schema.ts';
import { createMetrics } from '../src/server/metrics.ts';
import { createPipeline } from '../src/server/pipeline.ts';
import { createLifetime } from '../src/upstream/lifetime.ts';
import { createTransport } from '../src/upstream/transport.ts';
import { createUpstream } from '../src/upstream/upstream.ts';
import { watchCalls } from '../src/server/watch.ts';
import { workloads } from './workloads.ts';

const config = readConfig({ BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9', ACCESS_TOKEN: 'bench', FILM_TIER: 'advance', NODE_ENV: 'production' });
const settings = { ...config, baseUrl: process.env.UP!, eventBaseUrl: process.env.UP! };
const real = createTransport(settings);
const seen = new Map<string, any>();
const metrics = createMetrics();
const upstream = createUpstream(settings, {
  observe: watchCalls(metrics),
  transport: { ...real, send: (request, life) => {
    const known = seen.get(request.path);
    if (known) return Promise.resolve(known);
    return real.send(request, life).then((answer) => { seen.set(request.path, answer); return answer; });
  } },
});
const pipeline = createPipeline({ schema, config, upstream, log: pino({ level: 'silent' }), metrics });
for (const name of process.argv[2]!.split(',')) {
  const w = workloads.find((each) => each.name === name)!;
  await fetch(`${process.env.UP}/admin/set?latency=0&reuse=${w.reuse ? 60 : 0}`);
  seen.clear();
  const run = async (n: number) => {
    for (let i = 0; i < n; i++) {
      const prepared = pipeline.prepare(w.document, undefined);
      const caller = { authorization: undefined, explain: undefined, address: '127.0.0.1', requestId: 'abc' };
      const r = await pipeline.answer(prepared, w.variables(i % Math.min(w.variants, 50)), caller, createLifetime());
      JSON.stringify(r);
    }
  };
  const n = Number(process.argv[3] ?? 3000);
  let least = Infinity;
  const until = Date.now() + Number(process.argv[4] ?? 6) * 1000;
  while (Date.now() < until) {
    const before = process.cpuUsage();
    await run(n);
    const used = process.cpuUsage(before);
    least = Math.min(least, (used.user + used.system) / n);
  }
  const alloc = (globalThis as any).__alloc;
  if (alloc) { await alloc.start(); await run(n); await alloc.stop(n); }
  console.log(name, 'least', least.toFixed(1), 'us', 'rss', (process.memoryUsage.rss() / 1e6).toFixed(0), 'heap', (process.memoryUsage().heapUsed / 1e6).toFixed(0));
}
process.exit(0);
