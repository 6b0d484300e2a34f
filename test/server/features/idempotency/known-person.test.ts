/** A process that has just started, and a token whose person another process has seen. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyedClient } from '../../../support/keyed-client.ts';
import { atOnce, lateService } from '../../../support/late-service.ts';
import { hasRedis, redisServer } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';
const bodyOf = (content: string) =>
  JSON.stringify({
    query: `mutation ($content: String!) { createNoteComment(input: { noteId: "7", content: $content }) { comment { id content } } }`,
    variables: { content },
  });

test.skipIf(!hasRedis)('a new process settles a lost creation of a person whom another one has seen', async () => {
  let isLost = false;
  const service = await lateService((write) => {
    if (!isLost) return atOnce(write);
    write.commit();
    write.lose();
  });
  const redisUrl = (await redisServer()).url;
  const facade = async () => keyedClient((await replica(service.url, { redisUrl, upstreamSettleMs: '100' })).url);
  const [first, second] = [await facade(), await facade()];
  for (const content of ['who is it', 'and once more']) await first(bodyOf(content), randomUUID());
  isLost = true;
  const content = randomUUID();
  const { result } = await second(bodyOf(content), randomUUID());
  expect(result.data?.createNoteComment?.comment.content).toBe(content);
  expect(service.comments.filter((each) => each.content === content)).toHaveLength(1);
});
