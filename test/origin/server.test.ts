import { expect, test } from 'vitest';
import { serviceHeaders } from '../../src/api/service-headers.ts';
import { service } from '../support/service.ts';

const origin = await service();

test('an idle connection is kept for longer than by a proxy in front, so that no write meets one that closes', async () => {
  const response = await fetch(`http://127.0.0.1:${origin.port}/v2/book/6082808`);
  const [, seconds] = /^timeout=(\d+)$/.exec(response.headers.get('keep-alive')!)!;
  expect(Number(seconds)).toBeGreaterThan(60);
  await response.arrayBuffer();
});

test('each answer has the headers of the real service, whatever is in it', async () => {
  const paths = ['/v2/book/6082808', '/v2/book/1', '/v2/note/1', '/nowhere', '/event/locations'];
  for (const path of paths) {
    const response = await fetch(`http://127.0.0.1:${origin.port}${path}`);
    await response.arrayBuffer();
    expect(Object.fromEntries(response.headers), path).toMatchObject(serviceHeaders);
    expect(response.headers.getSetCookie(), path).toEqual([expect.stringMatching(/^bid=[\w-]{11}; Expires=.+ GMT; /)]);
  }
});
