/** Generates cases: a world, an upstream with its variants and faults, and operations of several people over one facade. */
import type { Faults } from './faults.ts';
import { type Operation_, generateOperation, generatePaths } from './generate-operations.ts';
import { parse } from 'graphql';
import { withIds } from './identity.ts';
import type { Settings } from './product.ts';
import { crossing, rereading, twice } from './generate-sequences.ts';
import { type Oddities, generateOddities } from './oddities.ts';
import { createRandom } from './random.ts';
import type { Manners } from './upstreams.ts';
import { originIds } from './origin.ts';
import { people, worldIds } from './world.ts';

export interface CaseOperation extends Operation_ {
  /** The person whose token is sent; null for none. A name that is not among `people` has an unknown token. */
  person: string | null;
  client: {
    via: 'pipeline' | 'post' | 'get';
    /** The client leaves after this many turns of the event loop. */
    leavesAfter?: number;
    /** It asks for new data, by `Cache-Control: no-cache`. */
    isReload?: boolean;
  };
}

/**
 * Operations that run concurrently, all of them queries. With `isCrossing`: a slow read, a write during that read, and the same read after
 * the write.
 */
export interface Step {
  operations: CaseOperation[];
  isCrossing?: boolean;
}

export interface Case {
  /** Over the origin instead of the generated world. */
  isOverOrigin: boolean;
  worldSeed: number;
  manners: Manners;
  oddities: Oddities;
  settings: Settings;
  faults: Faults;
  steps: Step[];
}

export function generateCase(seed: string): Case {
  const random = createRandom(seed);
  const isOverOrigin = random.chance(0.1);
  const ids = isOverOrigin ? originIds() : worldIds;
  const bySockets = random.chance(0.03);
  const byFetch = bySockets || random.chance(0.25);
  const mayBreak = random.chance(0.5);
  const names = [...Object.keys(people)];
  const person = (isMutation: boolean) =>
    isMutation
      ? random.weighted([
          [12, random.pick(names)],
          [1, null],
        ])
      : random.weighted([
          [4, null],
          [8, random.pick(names)],
          [0.3, 'stranger'],
        ]);
  const operation = (isMutation: boolean): CaseOperation => {
    const via = byFetch
      ? random.pick(isMutation ? (['post'] as const) : (['post', 'post', 'get'] as const))
      : 'pipeline';
    const isDivided = !isMutation && random.chance(0.15);
    const leaves = random.chance(0.03);
    return {
      ...generateOperation(random, { ids, isMutation, isDivided }),
      person: person(isMutation),
      client: { via, ...(leaves ? { leavesAfter: random.int(0, 8) } : {}) },
    };
  };
  const steps: Step[] = [];
  const many = random.int(1, 4);
  for (let at = 0; at < many; at++) {
    const kind = random.weighted<'one' | 'again' | 'together' | 'write' | 'crossing' | 'rereading'>([
      [8, 'one'],
      [3, 'again'],
      [2, 'together'],
      [2, 'write'],
      [1, 'crossing'],
      [1, 'rereading'],
    ]);
    if (kind === 'write')
      steps.push({ operations: [random.chance(0.2) ? twice(operation(true), ids, random.next()) : operation(true)] });
    else if (kind === 'together')
      steps.push({ operations: Array.from({ length: random.int(2, 3) }, () => operation(false)) });
    else if (kind === 'again') {
      const one = operation(false);
      // The same operation by another person, or once more by the same one.
      steps.push(
        { operations: [one] },
        { operations: [{ ...one, person: random.chance(0.5) ? one.person : person(false) }] },
      );
    } else if (kind === 'crossing') {
      const one = crossing(random.pick(names), ids, byFetch ? 'post' : 'pipeline', random.next());
      steps.push({ operations: one, isCrossing: true });
    } else if (kind === 'rereading')
      steps.push(...rereading(random.shuffled(names), ids, byFetch ? 'post' : 'pipeline', random.next()));
    else steps.push({ operations: [operation(false)] });
  }
  const identity = createRandom(`${seed} identity`);
  if (identity.chance(0.4)) {
    const name = identity.weighted([
      [1, null],
      [3, identity.pick(names)],
    ]);
    const via = byFetch ? 'post' : 'pipeline';
    const ofAbsent = createRandom(`${seed} absent`).chance(0.15);
    const reads = generatePaths(identity, ids, ofAbsent).map((each) => ({
      ...each,
      person: name,
      client: { via } as const,
    }));
    steps.splice(identity.int(0, steps.length), 0, ...reads.map((each) => ({ operations: [each] })));
  }
  // As clients with a normalised cache send them.
  if (identity.chance(0.4))
    for (const { operations } of steps)
      for (const each of operations) each.document = withIds(parse(each.document, { noLocation: true }));
  const reloads = createRandom(`${seed} reloads`);
  const mayReload = reloads.chance(0.4);
  const anew = (each: CaseOperation): CaseOperation => ({
    ...each,
    person: reloads.pick([null, ...names].filter((name) => name === null || name !== each.person)),
    client: { ...each.client, isReload: true },
  });
  const isRead = ({ operations, isCrossing }: Step) =>
    !isCrossing && operations.every(({ document }) => !document.includes('mutation'));
  const byNobody = ({ operations }: Step) => operations.every((each) => each.person === null);
  const oddities = generateOddities(seed);
  return {
    isOverOrigin,
    worldSeed: random.int(1, 400),
    manners: {
      fields: random.weighted<Manners['fields']>([
        [6, 'honoured'],
        [2, 'ignored'],
        [2, 'more'],
        [1, 'records'],
      ]),
      hidesTotals: random.chance(0.15),
      ignoresWindows: random.chance(0.2),
      ignoresStarts: createRandom(`${seed} starts`).chance(0.2),
      hidesItems: random.chance(0.3),
      caching: createRandom(`${seed} caching`).weighted<Manners['caching']>([
        [6, 'real'],
        [1, 'timed'],
        [1, 'none'],
        [2, 'varying'],
      ]),
    },
    oddities,
    settings: {
      own: random.weighted<Settings['own']>([
        [2, null],
        [8, { tier: random.pick(['basic', 'advance', 'premium']), isTold: random.chance(0.7) }],
      ]),
      recordTtlSeconds: random.weighted<number | null>([
        [3, null],
        [1, 0],
      ]),
      readAttempts: random.weighted([
        [8, 1],
        [1, 2],
      ]),
      callTimeoutMs: mayBreak ? 150 : 5_000,
      maxUpstreamCalls: random.weighted([
        [8, 400],
        [1, random.int(1, 8)],
      ]),
      isWatched: !byFetch,
      bySockets,
    },
    faults: {
      seed: random.int(0, 1_000_000),
      rate: mayBreak ? random.pick([0.05, 0.15, 0.4]) : 0,
      ...(oddities.waits && { refusals: 0.5 }),
    },
    // What was read is read anew, by nobody or by another person, and then as before.
    steps: steps.flatMap((step) => {
      if (!mayReload || !isRead(step)) return [step];
      const reloaded = { operations: step.operations.map(anew) };
      return byNobody(step) ? [step, reloaded, step] : [step, reloaded];
    }),
  };
}
