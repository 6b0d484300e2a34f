import { beforeAll, describe, expect, test } from 'vitest';
import { keyedClient } from '../support/keyed-client.ts';
import { type DirectService, directService } from '../support/keyed-writes.ts';
import { thorough } from '../support/optional.ts';
import { hasRedis, redisServer } from '../support/redis.ts';
import { replica } from '../support/replica.ts';
import { service } from '../support/service.ts';
import { shufflingProxy } from '../support/shuffling-proxy.ts';

const bookId = '1003078';
/** `INTERLEAVINGS=50` tries 200 of each kind of change. */
const INTERLEAVINGS = Number(process.env.INTERLEAVINGS ?? (thorough ? 6 : 2));

type Phone = (input: object) => Promise<string | undefined>;

/** Two facades that share what they share, and a service whose calls come in a shuffled order. */
async function twoPhones(settings: Record<string, string>, name: string, sameProcess: boolean) {
  const origin = await service();
  // Each phone has a token of its own, which the service takes for the same person.
  const proxy = await shufflingProxy(origin.url, () => 'demo-alice');
  const one = await replica(proxy.url, settings);
  const other = sameProcess ? one : await replica(proxy.url, settings);
  const query = `mutation ($input: Update${name}Input!) { update${name}(input: $input) { __typename } }`;
  const phoneOf = (url: string, token: string): Phone => {
    const send = keyedClient(url);
    return async (input) => {
      const { code, result } = await send(JSON.stringify({ query, variables: { input } }), undefined, token);
      return code ?? (result.errors ? 'error' : undefined);
    };
  };
  const remove = async (target: object): Promise<void> => {
    const query = `mutation ($input: Delete${name}Input!) { delete${name}(input: $input) { deletedId } }`;
    await keyedClient(other.url)(JSON.stringify({ query, variables: { input: target } }), undefined, 'phone-2');
  };
  const revisionOf = async (id: string): Promise<string> => {
    const send = keyedClient(one.url);
    const { result } = await send(
      JSON.stringify({ query: `{ node(id: "${id}") { ... on ${name} { revision } } }` }),
      undefined,
      'phone-1',
    );
    return result.data.node.revision;
  };
  const phones = [phoneOf(one.url, 'phone-1'), phoneOf(other.url, 'phone-2')] as const;
  return { phones, proxy, revisionOf, remove, direct: directService(origin.url, 'demo-alice', 'alice') };
}

/** A note, or a shelf entry, as the service itself shows it. */
const kinds = {
  Note: {
    make: async (direct: DirectService) => {
      const { id } = await direct.json('POST', '/v2/notes', { title: '一', content: '二', privacy: 'friend' });
      return { target: { id: `Note:${id}` }, id: `Note:${id}`, path: `/v2/note/${id}` };
    },
    show: ({ title, content, privacy, can_reply }: Record<string, unknown>) => ({ title, content, privacy, can_reply }),
    before: { title: '一', content: '二', privacy: 'friend', can_reply: true },
    changes: [
      [{ title: '甲' }, { title: '甲' }],
      [{ content: '乙' }, { content: '乙' }],
    ],
    same: [{ title: '甲' }, { title: '乙' }],
    member: 'title',
  },
  Collection: {
    make: async (direct: DirectService) => {
      await direct.call('DELETE', `/v2/book/${bookId}/collection`);
      const draft = { status: 'wish', comment: '一', rating: '3', tags: '甲 乙', privacy: 'private' };
      const { user_id } = await direct.json('POST', `/v2/book/${bookId}/collection`, draft);
      return { target: { bookId }, id: `Collection:${user_id}:${bookId}`, path: `/v2/book/${bookId}/collection` };
    },
    show: ({ status, comment, rating, tags }: Record<string, unknown>) => ({
      status,
      comment,
      tags,
      rating: (rating as { value: string } | undefined)?.value,
    }),
    before: { status: 'wish', comment: '一', tags: ['甲', '乙'], rating: '3' },
    changes: [
      [{ comment: '甲', isPrivate: true }, { comment: '甲' }],
      [{ rating: 5, isPrivate: true }, { rating: '5' }],
    ],
    same: [
      { comment: '甲', isPrivate: true },
      { comment: '乙', isPrivate: true },
    ],
    member: 'comment',
  },
} as const;

describe.each([
  { what: 'in one process', needsRedis: false },
  { what: 'over two facades and one Redis', needsRedis: true },
])('two phones $what', ({ needsRedis }) => {
  describe.skipIf(needsRedis && !hasRedis).each(['Note', 'Collection'] as const)('that change a %s', (name) => {
    const { make, show, before, changes, same, member } = kinds[name];
    let setup: Awaited<ReturnType<typeof twoPhones>>;
    beforeAll(async () => {
      const settings: Record<string, string> = needsRedis ? { redisUrl: (await redisServer()).url } : {};
      setup = await twoPhones(settings, name, !needsRedis);
      // A facade that is not connected to Redis yet takes turns of its own only.
      const { target } = await make(setup.direct);
      for (const phone of setup.phones) await phone({ ...target, ...changes[0][0] });
    });
    const interleavings = Array.from({ length: INTERLEAVINGS }, (_, seed) => seed);

    test('lose nothing if they change different fields', async () => {
      const { phones, proxy, direct } = setup;
      for (const seed of interleavings) {
        const { target, path } = await make(direct);
        proxy.shuffle(seed);
        const [[one, made], [other, madeToo]] = changes;
        const codes = await Promise.all([phones[0]({ ...target, ...one }), phones[1]({ ...target, ...other })]);
        const after = show(await direct.json('GET', path));
        expect({ seed, codes, after }, proxy.order.join(', ')).toEqual({
          seed,
          codes: [undefined, undefined],
          after: { ...before, ...made, ...madeToo },
        });
      }
    });

    test('are told of one another with unchangedSince: one wins', async () => {
      const { phones, proxy, direct, revisionOf } = setup;
      for (const seed of interleavings) {
        const { target, path, id } = await make(direct);
        const unchangedSince = await revisionOf(id);
        proxy.shuffle(seed);
        const codes = await Promise.all(
          same.map((change, at) => phones[at]!({ ...target, ...change, unchangedSince })),
        );
        const winner = codes.indexOf(undefined);
        const after = show(await direct.json('GET', path));
        expect({ seed, codes: codes.map(String).sort(), after }).toEqual({
          seed,
          codes: ['CONFLICT', 'undefined'],
          after: { ...before, [member]: (same[winner] as Record<string, unknown>)[member] },
        });
      }
    });

    test('overwrite one field without it, and keep all others', async () => {
      const { phones, proxy, direct } = setup;
      for (const seed of interleavings) {
        const { target, path } = await make(direct);
        proxy.shuffle(seed);
        await Promise.all(same.map((change, at) => phones[at]!({ ...target, ...change })));
        const { [member as 'title']: changed, ...others } = show(await direct.json('GET', path)) as Record<
          string,
          unknown
        >;
        const { [member as 'title']: _, ...kept } = before as Record<string, unknown>;
        expect({ seed, others }).toEqual({ seed, others: kept });
        expect(same.map((change) => (change as Record<string, unknown>)[member])).toContain(changed);
      }
    });
  });
});

test('what a program beside the facade writes is lost only if it comes between the read and the PUT of an update', async () => {
  const { phones, proxy } = await twoPhones({}, 'Note', true);
  const { make, show, before } = kinds.Note;
  const beside = directService(proxy.url, 'beside', 'alice');
  let between = 0;
  for (let seed = 0; seed < 4 * INTERLEAVINGS; seed++) {
    const { target, path } = await make(beside);
    proxy.shuffle(seed);
    const draft = { title: '一', content: '乙', privacy: 'friend' };
    await Promise.all([phones[0]({ ...target, title: '甲' }), beside.call('PUT', path, draft)]);
    const [first, second] = proxy.order;
    const isBetween = first === 'GET by Bearer phone-1' && second === 'PUT by Bearer beside';
    const isLast = proxy.order.at(-1) === 'PUT by Bearer beside';
    if (isBetween) between++;
    const after = show(await beside.json('GET', path));
    const expected = isLast ? { title: '一', content: '乙' } : { title: '甲', content: isBetween ? '二' : '乙' };
    expect({ seed, after }).toEqual({ seed, after: { ...before, ...expected } });
  }
  if (process.env.INTERLEAVINGS)
    process.stdout.write(`A program beside the facade lost ${between} of ${4 * INTERLEAVINGS} writes.\n`);
});
