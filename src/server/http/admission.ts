/**
 * How many operations run at once. More than can be done is refused early and cheaply, so that what was taken is finished.
 * It counts operations, never the calls of one: an operation that runs is never held up by others that do not.
 */
import type { ServerResponse } from 'node:http';
import type { Config } from '../../config/settings.ts';
import { type DeadlineQueue, type Deadline, createDeadlineQueue } from '../../lib/deadlines.ts';
import { type CancellationToken, removeListener, addListener } from '../../lib/cancellation.ts';
import { HttpError, httpErrorBody } from './http-error.ts';

/** The right to run one operation. */
export interface OperationSlot {
  /** Gives it back; calling it again does nothing. */
  release: () => void;
}

export interface SlotRequest {
  lifetime: CancellationToken;
  /** Resolves when the last byte of the uploaded files has arrived; the upload deadline counts from there. */
  uploadEnd?: Promise<void> | undefined;
  /** Called when the slot is revoked because the operation still holds it `GRACE_MS` after its deadline. */
  onOverdue: () => void;
}

export interface Admission {
  /** How many more could be taken in, to run or to wait: asked before a request is looked at. */
  freePlaces: () => number;
  /**
   * Returns the slot if the operation may run at once, else a promise of it. Throws or rejects with a RequestRefusal: OVERLOADED, or
   * CLIENT_LEFT.
   */
  enter: (entrant: SlotRequest) => OperationSlot | Promise<OperationSlot>;
  running: () => number;
  waiting: () => number;
  /** Slots with a running timer. */
  timers: () => number;
  /** True if there is no room and no slot was released for half the operation deadline: more than a peak of load. */
  isStuck: () => boolean;
}

export type AdmissionSettings = Pick<
  Config,
  'maxRunningOperations' | 'maxWaitingOperations' | 'operationTimeoutMs' | 'uploadTimeoutMs'
>;

/** After its deadline an operation only has to write its error. Holding the slot longer than this is a defect of the facade. */
const GRACE_MS = 2_000;

const RETRY_AFTER_SECONDS = '1';
const OVERLOADED = 'More is asked than can be done. Try again in a moment.';

export function createAdmission(settings: AdmissionSettings): Admission {
  const { maxRunningOperations, maxWaitingOperations, operationTimeoutMs, uploadTimeoutMs } = settings;
  const queue = new Set<() => void>();
  const clock = createDeadlineQueue(operationTimeoutMs + GRACE_MS);
  const uploadClock = createDeadlineQueue(uploadTimeoutMs + GRACE_MS);
  let running = 0;
  let releasedAt = 0;

  const freePlaces = () => maxRunningOperations - running + maxWaitingOperations - queue.size;

  return {
    freePlaces,
    running: () => running,
    waiting: () => queue.size,
    timers: () => clock.size() + uploadClock.size(),
    isStuck: () => freePlaces() <= 0 && performance.now() - releasedAt > operationTimeoutMs / 2,
    enter(entrant) {
      if (entrant.lifetime.reason) throw left();
      if (freePlaces() <= 0) throw overloaded();
      return running < maxRunningOperations && queue.size === 0 ? take(entrant) : waited(entrant);
    },
  };

  function take({ uploadEnd, onOverdue }: SlotRequest): OperationSlot {
    // No slot could be released while none was held.
    if (running++ === 0) releasedAt = performance.now();
    let isHeld = true;
    let stop: (() => void) | undefined;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      stop?.();
      running--;
      releasedAt = performance.now();
      for (const begin of queue) {
        if (running >= maxRunningOperations) return;
        begin();
      }
    };
    const start = (by: DeadlineQueue) => {
      if (!isHeld) return;
      const ticking: Deadline = by.start({
        onDeadline() {
          release();
          onOverdue();
        },
      });
      stop = () => by.stop(ticking);
    };
    if (uploadEnd) void uploadEnd.then(() => start(uploadClock));
    else start(clock);
    return { release };
  }

  function waited(entrant: SlotRequest): Promise<OperationSlot> {
    const { lifetime } = entrant;
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        removeListener(lifetime, leave);
        queue.delete(begin);
      };
      const refuse = () => {
        settle();
        reject(overloaded());
      };
      const leave = {
        onCancel() {
          settle();
          reject(left());
        },
      };
      const begin = () => {
        settle();
        resolve(take(entrant));
      };
      const timer = setTimeout(refuse, operationTimeoutMs);
      addListener(lifetime, leave);
      queue.add(begin);
    });
  }
}

/** Nobody reads it. */
const left = () => new HttpError(499, 'CLIENT_LEFT', 'The client has left.');

const overloaded = () => new HttpError(503, 'OVERLOADED', OVERLOADED, { 'retry-after': RETRY_AFTER_SECONDS });

const overloadedBody = httpErrorBody('OVERLOADED', OVERLOADED);

/** Costs next to nothing: there will be many. */
export function sendOverloaded(response: ServerResponse, standing: readonly string[]): void {
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
