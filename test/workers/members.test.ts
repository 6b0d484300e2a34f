import type { Worker } from 'node:cluster';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Channel } from '../../src/workers/channel.ts';
import { createMembers } from '../../src/workers/members.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A worker that replies unless it is stopped, and the questions that it was asked. */
function member(id: number) {
  const asked: string[] = [];
  let isStopped = false;
  const channel: Channel = {
    ask(question, _, replyMs = 1_000) {
      asked.push(question);
      const reply = question === 'acceptsWork' ? true : undefined;
      return new Promise((resolve) =>
        setTimeout(() => resolve(isStopped ? undefined : reply), isStopped ? replyMs : 1),
      );
    },
  };
  return { worker: { id } as Worker, channel, asked, stop: (stopped: boolean) => (isStopped = stopped) };
}

function fleet() {
  const onSilent = vi.fn();
  const members = createMembers(onSilent);
  const [first, second] = [member(1), member(2)];
  for (const { worker, channel } of [first, second]) members.add(worker, channel);
  return { onSilent, members, first, second };
}

test('a worker that does not reply for a long time is told, once, and one that replies is not', async () => {
  const { onSilent, first } = fleet();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(onSilent).not.toHaveBeenCalled();
  first.stop(true);
  await vi.advanceTimersByTimeAsync(10_000);
  first.stop(false); // a long garbage collection
  await vi.advanceTimersByTimeAsync(10_000);
  expect(onSilent).not.toHaveBeenCalled();
  first.stop(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(onSilent.mock.calls).toEqual([[first.worker]]);
});

test('nobody waits for a worker that did not reply to the last question', async () => {
  const { members, first, second } = fleet();
  first.stop(true);
  await vi.advanceTimersByTimeAsync(3_000);
  for (const each of [first, second]) each.asked.length = 0;
  const metrics = members.replies.fleetMetrics();
  const usage = members.replies.fleetUsage();
  await vi.advanceTimersByTimeAsync(10); // the time of a reply, not that of a missing one
  await Promise.all([metrics, usage]);
  expect(second.asked).toEqual(['metrics', 'usage']);
  expect(first.asked).toEqual([]);
});
