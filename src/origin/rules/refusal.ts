import type { ServiceCode } from '../../api/errors.ts';

/** A request is rejected with an error code of the interface. */
export class Refusal extends Error {
  readonly code: ServiceCode;
  /** Seconds until the request may be repeated, for temporary rejections. */
  readonly retryAfter: number | undefined;
  constructor(code: ServiceCode, retryAfter?: number) {
    super(`refused with code ${code}`);
    this.name = 'Refusal';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
