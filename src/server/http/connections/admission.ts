/**
 * Limits how many operations run at once. Operations past the limit wait; past a second limit they are rejected early and cheaply, so that
 * admitted operations are finished. Upstream calls are not counted: a running operation never waits for operations that wait.
 */
import type { Config } from '../../../config/settings.ts';
import { afterPendingReads } from '../../../lib/event-loop.ts';
import { type CancellationToken, cancel } from '../../../lib/cancellation.ts';
import { type Semaphore, createSemaphore } from '../../../upstream/limits/semaphore.ts';
import type { Exchange } from '../exchange.ts';
import { clientLeft, overloaded } from '../response/http-error.ts';

/** The right to run one operation. */
export interface OperationSlot {
  /** Returns the slot. Further calls do nothing. */
  release: () => void;
}

/** A slot that its operation may return while it waits for another one, and take again. */
export interface ReturnableSlot extends OperationSlot {
  enter: () => Promise<void>;
}

interface SlotRequest {
  exchange: Exchange;
  /** Cancelled at the deadline of the operation. */
  lifetime: CancellationToken;
  /** It sends files to upstream, which takes longer. */
  hasFiles?: boolean;
}

export type AdmissionSettings = Pick<
  Config,
  'maxRunningOperations' | 'maxWaitingOperations' | 'operationTimeoutMs' | 'uploadTimeoutMs'
>;

export class Admission {
  private readonly settings: AdmissionSettings;
  private readonly slots: Semaphore;
  private releasedAt = 0;

  constructor(settings: AdmissionSettings) {
    this.settings = settings;
    this.slots = createSemaphore(() => settings.maxRunningOperations);
  }

  /**
   * Returns the slot if the operation may run at once, else a promise of it. Throws or rejects with an HttpError: OVERLOADED, or
   * CLIENT_LEFT.
   */
  enter(request: SlotRequest): OperationSlot | Promise<OperationSlot> {
    if (request.lifetime.reason) throw clientLeft();
    if (this.slots.enter()) return this.take(request);
    if (this.freeSlots() <= 0) throw overloaded();
    return this.wait(request);
  }

  /** `slot`: that of the request. */
  returnable(slot: OperationSlot, request: SlotRequest): ReturnableSlot {
    let held = slot;
    return {
      release: () => held.release(),
      enter: async () => {
        held = await this.enter(request);
        request.exchange.onClose(held.release);
      },
    };
  }

  /** How many more operations may enter, to run or to wait. */
  freeSlots(): number {
    const { maxRunningOperations, maxWaitingOperations } = this.settings;
    return maxRunningOperations - this.slots.running() + maxWaitingOperations - this.slots.waiting();
  }

  running(): number {
    return this.slots.running();
  }

  waiting(): number {
    return this.slots.waiting();
  }

  /** True if there is no room and no slot was released for half the operation deadline: more than a peak of load. */
  isStuck(): boolean {
    return this.freeSlots() <= 0 && performance.now() - this.releasedAt > this.settings.operationTimeoutMs / 2;
  }

  private take({ lifetime, hasFiles = false }: SlotRequest): OperationSlot {
    // No slot could be released while none was held.
    if (this.slots.running() === 1) this.releasedAt = performance.now();
    const { operationTimeoutMs, uploadTimeoutMs } = this.settings;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(deadline);
      this.releasedAt = performance.now();
      this.slots.leave();
    };
    const onDeadline = () => {
      if (!isHeld) return;
      // It only has to write its error. A resolver of an embedding program may never end.
      release();
      cancel(lifetime, new Error('The operation took too long.'));
    };
    const deadline = setTimeout(afterPendingReads, hasFiles ? uploadTimeoutMs : operationTimeoutMs, onDeadline).unref();
    return { release };
  }

  private async wait(request: SlotRequest): Promise<OperationSlot> {
    const isAdmitted = await this.slots
      .pass(this, request.lifetime, this.settings.operationTimeoutMs)
      .catch(() => Promise.reject(clientLeft()));
    if (!isAdmitted) throw overloaded();
    return this.take(request);
  }
}
