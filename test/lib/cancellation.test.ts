import { expect, test } from 'vitest';
import { cancel, createCancellationToken, unlessCancelled, waitUnlessCancelled } from '../../src/lib/cancellation.ts';

/** A wait whose ends the test calls, and whether it has left its queue. */
function begun() {
  const token = createCancellationToken();
  const queue = { left: 0, resolve: (_: string) => {}, reject: (_: unknown) => {} };
  const wait = waitUnlessCancelled<string>(token, (resolve, reject) => {
    Object.assign(queue, { resolve, reject });
    return () => void queue.left++;
  });
  return { token, queue, wait };
}

test('a wait that is resolved or rejected leaves no listener behind, and cancelling later does nothing', async () => {
  for (const [end, expected] of [
    ['resolve', 'fulfilled'],
    ['reject', 'rejected'],
  ] as const) {
    const { token, queue, wait } = begun();
    queue[end]('ended');
    expect((await Promise.allSettled([wait]))[0]).toMatchObject({ status: expected });
    expect(token.first).toBeUndefined();
    cancel(token, new Error('late'));
    expect(queue.left).toBe(0);
  }
});

test('a wait whose token is cancelled leaves its queue and is rejected with the reason', async () => {
  const { token, queue, wait } = begun();
  cancel(token, new Error('the client left'));
  await expect(wait).rejects.toThrow('the client left');
  expect(queue.left).toBe(1);
});

test('a wait with a token that is cancelled already leaves its queue at once', async () => {
  const token = createCancellationToken();
  cancel(token, new Error('too late'));
  let left = 0;
  await expect(waitUnlessCancelled(token, () => () => void left++)).rejects.toThrow('too late');
  expect(left).toBe(1);
});

test('leaving may end the wait in another way', async () => {
  const token = createCancellationToken();
  const wait = waitUnlessCancelled<string>(token, (_, reject) => () => reject(new Error('overloaded')));
  cancel(token, new Error('the client left'));
  await expect(wait).rejects.toThrow('overloaded');
});

test('a promise is waited for, unless the token is cancelled before', async () => {
  expect(await unlessCancelled(Promise.resolve('a'), createCancellationToken())).toBe(true);
  const token = createCancellationToken();
  const never = unlessCancelled(new Promise(() => {}), token);
  cancel(token, new Error('the client left'));
  expect(await never).toBe(false);
});
