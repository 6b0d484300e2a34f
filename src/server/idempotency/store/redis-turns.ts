/** Turns that replicas take. In each process one waits for Redis, the others in order behind it. */
import { randomUUID } from 'node:crypto';
import type { RedisAccess } from '../../../upstream/redis/shared-state.ts';
import { pauseUnlessCancelled } from '../pause.ts';
import type { KeyScripts } from './redis-scripts.ts';
import { type KeyStore, type TargetChange, type TargetState, type Turn, joinStates } from './key-store.ts';
import { createTurns } from './turns.ts';

const PLACE_MS = 3_000;
const RENEWED_MS = 1_000;
const LOOK_MS = 100;

export function createSharedTurns(
  { connection, call }: RedisAccess,
  scripts: Pick<KeyScripts, 'turn' | 'leave'>,
  ttlMs: number,
): KeyStore['takeTurn'] {
  const { key: named } = connection;
  const takeTurn = createTurns();

  return async (targets, waiting): Promise<Turn | undefined> => {
    const [target] = targets;
    const endHere = await takeTurn(target, waiting);
    if (!endHere) return undefined;
    const ticket = randomUUID();
    const queue = [named(`turns:${target}`), named(`turns-held:${target}`)];
    const keys = [...queue, ...targets.flatMap((each) => [named(`target:${each}`), named(`changes:${each}`)])];
    const look = () => call(() => scripts.turn(keys, [ticket, PLACE_MS])) as Promise<Look | undefined>;
    const end = (state: string) => {
      endHere();
      void call(() => scripts.leave([...queue, named(`target:${target}`)], [ticket, state, ttlMs]));
    };
    try {
      for (let isWaiting = false; ; isWaiting = true) {
        const found = await look();
        if (!found || waiting.cancellation.reason) {
          end('');
          return undefined;
        }
        if (found[0] === 0) return turnOf(found, look, end);
        if (!isWaiting) waiting.begin();
        await pauseUnlessCancelled(LOOK_MS, waiting.cancellation);
      }
    } catch (error) {
      end('');
      throw error;
    }
  };
}

type Look = [before: number, now: number, states: string[], changes: string[]];

function turnOf([, now, states, changes]: Look, look: () => Promise<unknown>, end: (state: string) => void): Turn {
  const renewal = setInterval(() => void look(), RENEWED_MS).unref();
  return {
    state: joinStates(states.map((state) => (state === '' ? undefined : (JSON.parse(state) as TargetState)))),
    changes: changes.map(changeIn),
    now,
    leave(next) {
      clearInterval(renewal);
      end(JSON.stringify(next));
    },
  };
}

function changeIn(text: string): TargetChange {
  const [at, ...id] = text.split(' ');
  return { at: Number(at), id: id.join(' ') || undefined };
}
