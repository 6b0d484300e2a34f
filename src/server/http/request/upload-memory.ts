import type { Config } from '../../../config/settings.ts';
import { type CancellationToken, waitUnlessCancelled } from '../../../lib/cancellation.ts';
import { clientLeft, overloaded } from '../response/http-error.ts';

/** Memory that is reserved for the form of one request. */
export interface MemoryHold {
  /** Its files are used until the returned function is called, even if the request ends before. */
  keep: () => () => void;
  release: () => void;
}

/** Who sends a form: the id of a credential that upstream has accepted, or undefined for all other senders together. */
type UploadSender = string | undefined;

interface WaitingForm {
  readonly sender: UploadSender;
  readonly bytes: number;
  readonly begin: () => void;
}

/** One sender may hold this part of the memory, or one form. It may also have this part of the forms that wait. */
const SHARE = 1 / 4;

/**
 * The memory of forms with files. A form reserves its whole length before its first byte is read, so that no form waits while it holds a
 * part of the memory. A form that waits is not read. Forms begin in the order of their arrival, except that one sender does not delay others.
 */
export class UploadMemory {
  /** Bytes that are reserved. */
  bytes = 0;
  readonly maxBytes: number;
  private readonly maxWaiting: number;
  private readonly waitMs: number;
  private readonly bySender = new Map<UploadSender, number>();
  private readonly waiting = new Set<WaitingForm>();

  constructor(settings: Pick<Config, 'maxHeldUploadBytes' | 'maxWaitingOperations' | 'uploadTimeoutMs'>) {
    this.maxBytes = settings.maxHeldUploadBytes;
    this.maxWaiting = Math.ceil(settings.maxWaitingOperations * SHARE);
    this.waitMs = settings.uploadTimeoutMs;
  }

  /** Reserves at most `maxBytes`. Throws or rejects with an HttpError: OVERLOADED, or CLIENT_LEFT. */
  reserve(sender: UploadSender, bytes: number, lifetime: CancellationToken): MemoryHold | Promise<MemoryHold> {
    if (lifetime.reason) throw clientLeft();
    const waiting = [...this.waiting];
    const isNext = !waiting.some((form) => this.isWithinShare(form));
    if (isNext && this.isWithinShare({ sender, bytes }) && this.isFree(bytes)) return this.hold(sender, bytes);
    if (waiting.filter((form) => form.sender === sender).length >= this.maxWaiting) throw noMemory();
    return waitUnlessCancelled(lifetime, (resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        this.waiting.delete(form);
      };
      const fail = (error: Error) => {
        leave();
        this.beginWaiting();
        reject(error);
      };
      const form: WaitingForm = {
        sender,
        bytes,
        begin: () => {
          leave();
          resolve(this.hold(sender, bytes));
        },
      };
      const timer = setTimeout(() => fail(noMemory()), this.waitMs);
      this.waiting.add(form);
      return () => fail(clientLeft());
    });
  }

  private hold(sender: UploadSender, bytes: number): MemoryHold {
    this.change(sender, bytes);
    let held = bytes;
    const users = new Set<() => void>();
    const keep = () => {
      const release = () => {
        if (!users.delete(release) || users.size > 0) return;
        this.change(sender, -held);
        held = 0; // `keep` may be called once more after the request has ended
        this.beginWaiting();
      };
      users.add(release);
      return release;
    };
    return { keep, release: keep() };
  }

  private change(sender: UploadSender, bytes: number): void {
    const own = (this.bySender.get(sender) ?? 0) + bytes;
    if (own > 0) this.bySender.set(sender, own);
    else this.bySender.delete(sender);
    this.bytes += bytes;
  }

  private beginWaiting(): void {
    for (const form of this.waiting) {
      if (!this.isWithinShare(form)) continue;
      if (!this.isFree(form.bytes)) return;
      form.begin();
    }
  }

  private isFree(bytes: number): boolean {
    return this.bytes + bytes <= this.maxBytes;
  }

  private isWithinShare({ sender, bytes }: Pick<WaitingForm, 'sender' | 'bytes'>): boolean {
    const own = this.bySender.get(sender) ?? 0;
    return own === 0 || own + bytes <= this.maxBytes * SHARE;
  }
}

const noMemory = () => overloaded('The server has no memory for the upload now.');
