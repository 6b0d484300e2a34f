import { expect, test } from 'vitest';
import { hostile, json } from '../support/hostile.ts';
import { startProgram } from '../support/program.ts';

test(
  'SIGTERM under load: every request that was taken is answered, and it ends by itself',
  { timeout: 60_000 },
  async () => {
    const service = await hostile((socket, heard) =>
      setTimeout(() => json('{"id":"7","title":"x"}')(socket, heard), 150),
    );
    const env = { PORT: '0', BASE_URL: service.url, EVENT_BASE_URL: service.url, RECORD_TTL_SECONDS: '0' };
    const program = await startProgram(env);
    let asked = 0;
    const answered = new Map<string, string>();
    const client = async () => {
      for (;;) {
        const id = String(++asked);
        try {
          const response = await fetch(`${program.url}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ query: `{ book(id: ${id}) { title } }` }),
          });
          answered.set(id, await response.text());
        } catch {
          return; // refused, or cut before it was taken
        }
      }
    };
    const clients = Array.from({ length: 40 }, client);
    await expect.poll(() => answered.size, { timeout: 20_000 }).toBeGreaterThan(80);
    const started = performance.now();
    const { code, err } = await program.stop('SIGTERM');
    expect(performance.now() - started).toBeLessThan(10_000);
    await Promise.all(clients);
    expect([code, err]).toEqual([0, '']);
    const taken = service.heard.map(({ path }) => /\/v2\/book\/(\d+)/.exec(path)?.[1] ?? path);
    expect(taken.length).toBeGreaterThan(80);
    expect(taken.filter((id) => !answered.has(id))).toEqual([]);
    expect(new Set(answered.values())).toEqual(new Set(['{"data":{"book":{"title":"x"}}}']));
  },
);
