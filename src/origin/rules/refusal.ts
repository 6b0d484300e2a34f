import type { ServiceCode } from '../../api/errors.ts';

/** The service says no, in one of the interface's own codes. */
export class Refusal extends Error {
  readonly code: ServiceCode;
  /** Seconds, where it is only for now. */
  readonly retryAfter: number | undefined;
  constructor(code: ServiceCode, retryAfter?: number) {
    super(`refused with code ${code}`);
    this.name = 'Refusal';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
