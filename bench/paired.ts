/**
 * Compares the CPU time of two builds: `npm run bench:paired -- <folder of the other clone> [W1,W3] [starts]`. The other clone has its
 * dist of `npm run build`. A start is a new process of each build, because V8 compiles each process differently; within a start the
 * builds take turns. Prints the mean ratio over the starts, and the interval in which it is with a probability of 95 %.
 */
import { resolve } from 'node:path';
import { load, requestOf } from './load.ts';
import { type Running, contestants, cpuSeconds, start } from './process.ts';
import { orderOf, workloads } from './workloads.ts';

const [folder, names = workloads.map(({ name }) => name).join(','), starts = '8'] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder of the other clone.');
const ROUNDS = 10;
const MS = 500;
const WARM_UP_MS = 5_000;
const CONNECTIONS = 16;
/** Student's t for 95 % by degrees of freedom, from 1 on; 1.96 beyond. */
const T = [12.7, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13];

const product = contestants.find(({ name }) => name === 'product')!;
const upstream = await start('upstream.js', {});
const address = `http://127.0.0.1:${upstream.port}`;
const scripts = { this: product.script, other: resolve(folder, 'dist/main.js') };

console.log('| workload | this build over the other | 95 % interval |');
console.log('| --- | ---: | ---: |');
for (const workload of workloads.filter(({ name }) => names.split(',').includes(name))) {
  const { document, reuse, hasOtherNamespaces } = workload;
  const requests = orderOf(workload).map((variant) =>
    requestOf('/graphql', {
      query: typeof document === 'string' ? document : document(variant),
      variables: workload.variables(variant),
    }),
  );
  // Both may keep what is to be reused: this build by the headers of the real service.
  const reuseOf = { this: reuse ? '' : '&reuse=0', other: `&reuse=${reuse ? 60 : 0}` };
  const set = (who: keyof typeof scripts) =>
    fetch(`${address}/admin/set?latency=0&namespaces=${hasOtherNamespaces ? 'other' : 'real'}${reuseOf[who]}`);
  const ratios: number[] = [];
  for (let at = 0; at < Number(starts); at++) {
    const running = { this: await open(scripts.this), other: await open(scripts.other) };
    const spent = { this: 0, other: 0 };
    const made = { this: 0, other: 0 };
    for (let round = -1; round < ROUNDS; round++)
      for (const who of round % 2 === 0 ? (['this', 'other'] as const) : (['other', 'this'] as const)) {
        await set(who);
        const { pid, port } = running[who];
        const before = cpuSeconds(pid);
        const { operations } = await load(port, requests, {
          connections: CONNECTIONS,
          ms: round === -1 ? WARM_UP_MS : MS,
        });
        if (round === -1) continue;
        spent[who] += cpuSeconds(pid) - before;
        made[who] += operations;
      }
    ratios.push(Math.log(spent.this / made.this / (spent.other / made.other)));
    await Promise.all(Object.values(running).map(({ stop }) => stop()));
  }
  console.log(`| ${workload.name} | ${intervalOf(ratios)} |`);
}
await upstream.stop();
process.exit(0);

function open(script: string): Promise<Running> {
  return start(script, product.env(address, 0), product.flags);
}

/** Of logarithms, so that a half and a double are equally far from 1. */
function intervalOf(logarithms: readonly number[]): string {
  const count = logarithms.length;
  const mean = logarithms.reduce((sum, one) => sum + one, 0) / count;
  const variance = logarithms.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1);
  const half = (T[count - 2] ?? 1.96) * Math.sqrt(variance / count);
  const [middle, low, high] = [mean, mean - half, mean + half].map((one) => Math.exp(one).toFixed(3));
  return `${middle} | ${low} to ${high}`;
}
