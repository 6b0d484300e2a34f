/**
 * How many operations run at once. More than can be done is refused early and cheaply, so that what was taken is finished.
 * It counts operations, never the calls of one: an operation that runs is never held up by others that do not.
 */
import type { ServerResponse } from 'node:http';
import type { Config } from '../config.ts';
import { RequestRefusal, refusalBody } from './refusal.ts';

export interface Admission {
  /** Whether there is no room: asked before a request is looked at. */
  isFull: () => boolean;
  /** Resolves, with what must be called when the answer is out, as soon as the operation may run. */
  enter: (signal: AbortSignal) => Promise<() => void>;
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

  const isFull = () => running >= maxRunningOperations && queue.size >= maxWaitingOperations;

  return {
    isFull,
    running: () => running,
    waiting: () => queue.size,
    // An async function, so that a refusal is a rejection.
    async enter(signal) {
      if (signal.aborted) throw left();
      if (isFull()) throw overloaded();
      if (running < maxRunningOperations && queue.size === 0) return begun();
      return new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(clock);
          signal.removeEventListener('abort', leave);
          queue.delete(begin);
        };
        const refuse = () => {
          settle();
          reject(overloaded());
        };
        const leave = () => {
          settle();
          reject(left());
        };
        const begin = () => {
          settle();
          resolve(begun());
        };
        const clock = setTimeout(refuse, operationTimeoutMs);
        signal.addEventListener('abort', leave, { once: true });
        queue.add(begin);
      });
    },
  };

  function begun(): () => void {
    running++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      running--;
      for (const begin of queue) {
        if (running >= maxRunningOperations) return;
        begin();
      }
    };
  }
}

/** Nobody reads it. */
const left = () => new RequestRefusal(499, 'CLIENT_LEFT', 'The client has left.');

const overloaded = () => new RequestRefusal(503, 'OVERLOADED', OVERLOADED, { 'retry-after': RETRY_AFTER_SECONDS });

const overloadedBody = refusalBody('OVERLOADED', OVERLOADED);

/** Costs next to nothing: there will be many. */
export function refuseQuickly(response: ServerResponse): void {
  response.writeHead(503, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': overloadedBody.length,
    'retry-after': RETRY_AFTER_SECONDS,
  });
  response.end(overloadedBody);
}
