/** The rows of the campaign: what happens to writes and to their clients. Each is small; what is common is in run-row.ts. */
import type { Random } from '../../../../oracle/random.ts';
import type { Fault } from '../../../../support/losing-proxy.ts';
import { until } from '../../../../support/redis.ts';
import { CALL_TIMEOUT_MS, SETTLE_MS, ask } from './client.ts';
import { type Intention, changeable, commentOn, kindNamed, noteOf, several, single } from './intentions.ts';
import { type Lane, type LaneStep, type Plan, persons, tokenFor } from './lanes.ts';

/** What `between` may use. */
export interface Between {
  lane: Lane;
  mark: string;
  intention: Intention;
  plan: Plan;
  /** Of the facade that did not get the first attempt, if there are two. */
  other: () => string;
}

export interface Row {
  name: string;
  /** Kinds of single writes; all if there is no other intention. */
  kinds?: readonly string[];
  /** Equal ones are judged together. */
  prepare?: (lane: Lane, mark: string) => Promise<readonly Intention[]>;
  plan?: (random: Random) => Plan;
  /** When the client of the first attempt leaves. */
  leaves?: (random: Random) => LaneStep | number;
  /** What happens after the first attempt. */
  between?: (parts: Between) => Promise<unknown>;
  tokenOf?: (lane: Lane, at: { attempt: number; intention: number; mark: string }) => string;
  /** All of its intentions have the same key. */
  hasOneKey?: boolean;
  /** Clients ask once more after their answer. */
  asksAgain?: boolean;
  /** Where retries go, seen from the first attempt. */
  retriesAt?: 'any' | 'other';
  /** Cannot be told from absence, so it is counted apart. */
  isApart?: boolean;
  /** Why its writes, or one of the two that have one key, may be unknown, or not made: they are not expected to be settled. */
  unknownAs?: string;
  /** It may be told that it cannot be said whose the key is. */
  isStrange?: boolean;
  /** The same, once a process that has met its renewed token was killed. */
  renews?: boolean;
  /** Needs a second facade over the same Redis. */
  needsTwo?: boolean;
}

const slow = (beforeMs: number, afterMs = 0): Fault => ({ kind: 'slow', beforeMs, afterMs });
const lost: Fault = { kind: 'lost' };
const dropped: Fault = { kind: 'dropped' };

/** Half of all writes have a fault. Small numbers cut in the head of a response, larger ones in its body. */
export function randomFault(random: Random): Fault | undefined {
  if (random.chance(0.5)) return undefined;
  return random.pick<Fault>([
    lost,
    dropped,
    { kind: 'gateway', isSent: true },
    { kind: 'gateway', isSent: false },
    { kind: 'cut', at: random.int(0, 900) },
    { kind: 'late', ms: CALL_TIMEOUT_MS + 500 },
  ]);
}

const creations = ['createNote', 'createNoteComment', 'createAnnotation', 'createEvent'];

/** The notes with so many comments that they have several pages: one for each lane, because each batch has a service of its own. */
const longNotes = new WeakMap<Lane, Promise<string>>();
const LONG = 130;
function longNote(lane: Lane): Promise<string> {
  let note = longNotes.get(lane);
  if (!note) longNotes.set(lane, (note = fill()));
  return note;

  async function fill(): Promise<string> {
    const id = await noteOf(lane);
    for (let at = 0; at < LONG; at++)
      await lane.direct.json('POST', `/v2/note/${id}/comments`, { content: `older ${at}` });
    return id;
  }
}

const inputOf = ({ body }: Intention): { id: string; bookId: string; noteId: string } =>
  (JSON.parse(body() as string) as { variables: { input: { id: string; bookId: string; noteId: string } } }).variables
    .input;

/** What another device made of the record. */
const changed = new WeakMap<Intention, string>();
const CHANGED = 'of another device';

async function preparedChange(lane: Lane, mark: string): Promise<readonly Intention[]> {
  const kind = lane.random.pick(Object.keys(changeable));
  const own = await single(kindNamed(kind), lane.direct, mark);
  const intention: Intention = {
    ...own,
    // The write may have been carried out before the other device changed it.
    effects: async () => (changed.has(intention) ? 1 : own.effects()),
    async isOverwritten() {
      const path = changed.get(intention);
      return path !== undefined && !JSON.stringify(await lane.direct.json('GET', path)).includes(CHANGED);
    },
  };
  return [intention];
}

async function changeElsewhere({ lane, intention, plan }: Between): Promise<void> {
  if (plan.faults!.length > 0) return; // its process died before it had sent it
  // What the service carries out late is not written over by the facade.
  await until(() => !plan.inFlight);
  const { id, bookId } = inputOf(intention);
  const paths: Record<string, string> = {
    replaceNote: `/v2/note/${id}`,
    replaceAnnotation: `/v2/book/annotation/${id}`,
    replaceCollection: `/v2/book/${bookId}/collection`,
  };
  const path = paths[intention.kind]!;
  await changeable[intention.kind]!(lane.direct, path, CHANGED);
  changed.set(intention, path);
  plan.hidesOutcome = false;
}

/** A comment that was made, and is deleted before the retry: made again it would be there twice in all. */
function deletedComment(by: 'facade' | 'service') {
  const deleted = new WeakSet<Intention>();
  const places = new WeakMap<Intention, string>();
  return {
    async prepare(lane: Lane, mark: string): Promise<readonly Intention[]> {
      const noteId = await noteOf(lane);
      const own = commentOn(noteId, mark, lane.direct);
      const intention: Intention = {
        ...own,
        effects: async () => (await own.effects()) + (deleted.has(intention) ? 1 : 0),
      };
      places.set(intention, noteId);
      return [intention];
    },
    async between({ lane, intention, plan, other }: Between): Promise<void> {
      const noteId = places.get(intention)!;
      plan.hidesOutcome = false;
      const { comments } = await lane.direct.json('GET', `/v2/note/${noteId}/comments`);
      if (comments.length === 0) return; // a process died before it had sent it
      const commentId = String(comments[0].id);
      const query = `mutation { deleteNoteComment(input: { noteId: "${noteId}", commentId: "${commentId}" }) { deletedId } }`;
      const path = `/v2/note/${noteId}/comment/${commentId}`;
      const isDone = async () => (await lane.direct.call('GET', path)).status >= 400;
      if (by === 'service') await lane.direct.call('DELETE', path);
      else
        for (let attempts = 0; attempts < 10 && !(await isDone()); attempts++)
          await ask({ url: other, token: lane.token }, JSON.stringify({ query }), `delete-${commentId}`);
      if (await isDone()) deleted.add(intention);
    },
  };
}

const hiddenLoss = (): Plan => ({ faults: [lost], hidesOutcome: true });

export const rows: readonly Row[] = [
  {
    name: 'responses are lost, cut, late or of a gateway',
    plan: (random) => ({ faults: [randomFault(random), random.chance(0.3) ? randomFault(random) : undefined] }),
  },
  {
    name: 'the service commits after the deadline of the client',
    plan: (random) => ({ faults: [slow(random.int(250, 700))] }),
    leaves: () => 150,
  },
  {
    name: 'the service commits after the end of the call',
    plan: (random) => ({ faults: [slow(CALL_TIMEOUT_MS + random.int(300, SETTLE_MS / 2))] }),
  },
  {
    name: 'the client leaves at a step',
    plan: (random) => ({ faults: [slow(60, 60), random.chance(0.3) ? lost : undefined] }),
    leaves: (random) => random.pick(['reading', 'arrived', 'carriedOut', 'answered']),
  },
  {
    name: 'the client does not get its answer, and asks again',
    plan: (random) => ({ faults: [random.chance(0.3) ? lost : undefined] }),
    asksAgain: true,
  },
  {
    name: 'several mutations, of which one has a conditional second call',
    prepare: async (lane, mark) => [await several(lane, mark)],
    plan: (random) => ({
      faults: random.pick<(Fault | undefined)[]>([
        [{ kind: 'refused', status: 429, body: { code: 112, msg: 'rate_limit_exceeded2' } }],
        [{ kind: 'refused', status: 429, body: { code: 112, msg: 'rate_limit_exceeded2' } }, lost],
        [undefined, lost],
        [undefined, undefined, dropped],
      ]),
    }),
    // Then the POST is rejected, and a PUT follows it, which the first attempt did not have.
    between: async ({ lane, intention }) => {
      const { bookId } = intention as Intention & { bookId: string };
      const path = `/v2/book/${bookId}/collection`;
      if ((await lane.direct.call('GET', path)).status >= 400) await lane.direct.call('POST', path, { status: 'wish' });
    },
  },
  {
    name: 'lists have hidden items and small pages',
    prepare: async (lane, mark) => {
      const kind = lane.random.pick(creations);
      if (kind !== 'createNoteComment') return [await single(kindNamed(kind), lane.direct, mark)];
      return [commentOn(await longNote(lane), mark, lane.direct)];
    },
    plan: (random) => ({ isShort: true, faults: [random.pick([lost, lost, dropped])] }),
    unknownAs: 'the list is not read whole',
  },
  {
    name: 'another device changes the record in between',
    prepare: preparedChange,
    plan: (random) => ({ faults: [random.pick([lost, dropped])], hidesOutcome: true }),
    between: changeElsewhere,
    unknownAs: 'what another device has changed is not written over',
  },
  {
    name: 'another device deletes the item through the facade (apart: it cannot be told from absence)',
    ...deletedComment('facade'),
    plan: hiddenLoss,
    isApart: true,
  },
  {
    name: 'another program deletes the item (apart: it cannot be told from absence)',
    ...deletedComment('service'),
    plan: hiddenLoss,
    isApart: true,
  },
  {
    name: 'two devices of one person write equal words (apart: two equal items count as one if an answer is lost)',
    prepare: async (lane, mark) => {
      const noteId = await noteOf(lane);
      return [commentOn(noteId, mark, lane.direct), commentOn(noteId, mark, lane.direct)];
    },
    plan: (random) => ({ faults: random.shuffled([random.pick([lost, dropped]), undefined]) }),
    tokenOf: ({ token, renewed }, { intention }) => (intention === 0 ? token : renewed),
    isApart: true,
  },
  {
    name: 'two persons have the same key, for equal words',
    prepare: async (lane, mark) => {
      const noteId = await noteOf(lane);
      return [commentOn(noteId, mark, lane.direct), commentOn(noteId, mark, lane.direct)];
    },
    tokenOf: (lane, { intention }) =>
      intention === 0
        ? lane.token
        : tokenFor(
            lane.name,
            persons.find((each) => each !== lane.person)!,
          ),
    hasOneKey: true,
    isStrange: true,
    unknownAs: 'one of the two is another person',
  },
  {
    name: 'the first request of a renewed token is the retry',
    plan: (random) => ({ faults: [random.chance(0.5) ? randomFault(random) : undefined] }),
    tokenOf: ({ name, person }, { attempt, mark }) => tokenFor(name, person, `${mark}${attempt === 0 ? 'a' : 'b'}`),
    asksAgain: true,
    isStrange: true,
    unknownAs: 'nobody knows yet whose the new token is',
  },
  {
    name: 'a process that knows the person, and one that does not',
    kinds: ['createNoteComment', 'replaceNote', 'collectBook', 'deleteNote', 'replaceAnnotation'],
    plan: (random) => ({ faults: [random.chance(0.5) ? lost : undefined] }),
    tokenOf: ({ name, person }, { mark }) => tokenFor(name, person, mark),
    asksAgain: true,
    retriesAt: 'other',
    unknownAs: 'the process that sends it does not know the person',
    needsTwo: true,
  },
  {
    name: 'the token is renewed between two attempts',
    plan: (random) => ({ faults: [randomFault(random) ?? lost] }),
    tokenOf: ({ token, renewed }, { attempt }) => (attempt === 0 ? token : renewed),
    renews: true,
  },
  {
    name: 'the person becomes known between two attempts, in another replica',
    kinds: ['createNoteComment', 'replaceNote', 'collectBook', 'deleteNote', 'replaceAnnotation', 'joinEvent'],
    plan: (random) => ({ faults: [random.pick([lost, dropped])] }),
    tokenOf: ({ name, person }, { mark }) => tokenFor(name, person, mark),
    between: async ({ lane, mark, other }) => {
      const token = tokenFor(lane.name, lane.person, mark);
      const noteId = await noteOf(lane);
      const query = `mutation { createNoteComment(input: { noteId: "${noteId}", content: "who" }) { comment { id } } }`;
      await ask({ url: other, token }, JSON.stringify({ query }), `who-${token}`);
    },
    retriesAt: 'other',
    unknownAs: 'the process that sends it does not know the person',
    needsTwo: true,
  },
];
