import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { directService } from '../../../../support/keyed-writes.ts';
import { listen } from '../../../../support/listen.ts';
import { commentsWith } from './intentions.ts';

/** A service that answers with these statuses, one after the other, and then with a comment. */
const serviceAnswering = (...statuses: number[]) =>
  listen(
    createServer((_, response) => {
      const status = statuses.shift() ?? 200;
      const body = status === 200 ? { comments: [{ content: 'a mark' }], total: 1 } : { msg: 'no', code: 1 };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );

test('comments are counted also if the service refuses a read because of its load', async () => {
  const direct = directService(await serviceAnswering(429, 503), 'token', 'alice');
  expect(await commentsWith(direct, '7', 'a mark')).toBe(1);
});

test('a service that rejects the read is reported as what it is', async () => {
  const direct = directService(await serviceAnswering(404), 'token', 'alice');
  await expect(commentsWith(direct, '7', 'a mark')).rejects.toThrow('no comments of note 7: {"msg":"no","code":1}');
});
