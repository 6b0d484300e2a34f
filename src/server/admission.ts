/**
 * How many operations run at once. More than can be done is refused early and cheaply, so that what was taken is finished.
 * It counts operations, never the calls of one: an operation that runs is never held up by others that do not.
 */
import type { ServerResponse } from 'node:http';
import type { Config } from '../config.ts';
import { type Lifetime, offEnd, onEnd } from '../upstream/lifetime.ts';
import { RequestRefusal, refusalBody } from './refusal.ts';

export interface Admission {
  /** How many more could be taken in, to run or to wait: asked before a request is looked at. */
  room: () => number;
  /** Undefined where the operation may run; else resolves when it may. Throws or rejects with the refusal. Who is in must leave. */
  enter: (lifetime: Lifetime) => Promise<void> | undefined;
  leave: () => void;
  running: () => number;
  waiting: () => number;
}

export type AdmissionSettings = Pick<Config, 'maxRunningOperations' | 'maxWaitingOperations' | 'operationTimeoutMs'>;

const RETRY_AFTER_SECONDS = '1';
const OVERLOADED = 'More is asked than can be done. Try again in a moment.';

export function createAdmission(settings: AdmissionSettings): Admission {
  const { maxRunningOperations, maxWaitingOperations, operationTimeoutMs } = settings;
  const queue = new Set<() => void>();
  let running = 0;

  const room = () => maxRunningOperations - running + maxWaitingOperations - queue.size;

  return {
    room,
    running: () => running,
    waiting: () => queue.size,
    enter(lifetime) {
      if (lifetime.ended) throw left();
      if (room() <= 0) throw overloaded();
      if (running >= maxRunningOperations || queue.size > 0) return waited(lifetime);
      running++;
      return undefined;
    },
    leave() {
      running--;
      for (const begin of queue) {
        if (running >= maxRunningOperations) return;
        begin();
      }
    },
  };

  function waited(lifetime: Lifetime): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(clock);
        offEnd(lifetime, leave);
        queue.delete(begin);
      };
      const refuse = () => {
        settle();
        reject(overloaded());
      };
      const leave = {
        over() {
          settle();
          reject(left());
        },
      };
      const begin = () => {
        settle();
        running++;
        resolve();
      };
      const clock = setTimeout(refuse, operationTimeoutMs);
      onEnd(lifetime, leave);
      queue.add(begin);
    });
  }
}

/** Nobody reads it. */
const left = () => new RequestRefusal(499, 'CLIENT_LEFT', 'The client has left.');

const overloaded = () => new RequestRefusal(503, 'OVERLOADED', OVERLOADED, { 'retry-after': RETRY_AFTER_SECONDS });

const overloadedBody = refusalBody('OVERLOADED', OVERLOADED);

/** Costs next to nothing: there will be many. */
export function refuseQuickly(response: ServerResponse, standing: readonly string[]): void {
  response.writeHead(503, [
    ...standing,
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(overloadedBody.length),
    'retry-after',
    RETRY_AFTER_SECONDS,
  ]);
  response.end(overloadedBody);
}
