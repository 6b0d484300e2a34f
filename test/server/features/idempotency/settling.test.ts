import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { schema } from '../../../../src/graph/schema.ts';
import { writeRuleOf } from '../../../../src/engine/settle/write-rules.ts';
import { endpoints, lineOf } from '../../../support/endpoints.ts';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type DirectService, directService, updateKinds, writeKinds } from '../../../support/keyed-writes.ts';
import { type Fault, losingProxy } from '../../../support/losing-proxy.ts';
import { thorough } from '../../../support/optional.ts';
import { replica } from '../../../support/replica.ts';
import { service } from '../../../support/service.ts';

let proxy: Awaited<ReturnType<typeof losingProxy>>;
let direct: DirectService;
let send: ReturnType<typeof keyedClient>;

beforeAll(async () => {
  const origin = await service();
  proxy = await losingProxy(origin.url, () => undefined);
  direct = directService(origin.url, 'demo-alice', 'alice');
  send = keyedClient((await replica(proxy.url, { upstreamSettleMs: '60' })).url);
  // Responses with their author show whose token it is.
  await warmUp();
});

async function warmUp() {
  const kind = writeKinds.find(({ name }) => name === 'createEvent')!;
  const { body } = await kind.prepare(direct, randomUUID());
  await send(body());
}

/** The fault for the first write, none for the others. */
function once(fault: Fault) {
  let isOver = false;
  return () => {
    if (isOver) return undefined;
    isOver = true;
    return fault;
  };
}

test('every endpoint that writes says how it is recognised', () => {
  const writes = endpoints.filter(({ method }) => method !== 'GET');
  expect(schema.getMutationType()).toBeDefined();
  for (const endpoint of writes) expect(writeRuleOf(endpoint).lookAt).toBeTypeOf('function');
  const untried = writes.filter((endpoint) => !writeKinds.some((kind) => kind.endpoint === endpoint));
  expect(untried.map(lineOf), 'missing in writeKinds of test/support/keyed-writes.ts').toEqual([]);
});

/** What a write comes to, with retries as a client makes them. */
async function writeUntilSettled(body: () => string | FormData, key: string) {
  let answer = await send(body(), key);
  for (let retries = 0; answer.code === 'UPSTREAM_RESULT_UNKNOWN' && retries < 3; retries++) {
    await sleep(60);
    answer = await send(body(), key);
  }
  return answer;
}

const faults: readonly [what: string, fault: Fault, isCarriedOut: boolean][] = [
  ['whose response is lost', { kind: 'lost' }, true],
  ['that never arrives', { kind: 'dropped' }, false],
  ['that is carried out behind a 502', { kind: 'gateway', isSent: true }, true],
  ['that a gateway answers with 502', { kind: 'gateway', isSent: false }, false],
  ['whose response is cut in its head', { kind: 'cut', at: 12 }, true],
  ['whose response is cut in its body', { kind: 'cut', at: 1e9 }, true],
];
// A sample is each kind with one fault, another for the next.
const sample = [...writeKinds, ...updateKinds].flatMap((kind, at) =>
  faults.filter((_, which) => thorough || which === at % faults.length).map((fault) => ({ kind, fault })),
);

test.each(sample)(
  '$kind.name with a key $fault.0 is carried out once, and its payload is as if the response had come',
  async ({ kind, fault: [, fault, isCarriedOut] }) => {
    const write = await kind.prepare(direct, randomUUID());
    const reachedBefore = proxy.reached.length;
    proxy.lose(once(fault));
    const { code, result } = await writeUntilSettled(write.body, randomUUID());
    const reached = proxy.reached.slice(reachedBefore).filter(({ status }) => status < 300).length;
    if (kind.name === 'createReview' || kind.name === 'replaceReview') {
      expect([code, reached]).toEqual(['UPSTREAM_RESULT_UNKNOWN', isCarriedOut ? 1 : 0]);
      return;
    }
    const data = { [kind.name]: { __typename: expect.any(String) } };
    expect({ code, data: result.data }).toEqual({ code: undefined, data });
    const effects = await write.effects();
    if (!Number.isNaN(effects)) expect(effects).toBe(1);
  },
);
