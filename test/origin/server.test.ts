import { expect, test } from 'vitest';
import { service } from '../support/service.ts';

const origin = await service();

test('an idle connection is kept for longer than by a proxy in front, so that no write meets one that closes', async () => {
  const response = await fetch(`http://127.0.0.1:${origin.port}/v2/book/6082808`);
  const [, seconds] = /^timeout=(\d+)$/.exec(response.headers.get('keep-alive')!)!;
  expect(Number(seconds)).toBeGreaterThan(60);
  await response.arrayBuffer();
});
