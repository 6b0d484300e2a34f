import type { ServiceCode } from '../../api/errors.ts';

/** A request is rejected with an error code of the service. */
export class Rejection extends Error {
  readonly code: ServiceCode;
  /** Seconds until the request may be repeated, for temporary rejections. */
  readonly retryAfter: number | undefined;
  constructor(code: ServiceCode, retryAfter?: number) {
    super(`rejected with code ${code}`);
    this.name = 'Rejection';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The value. Rejects with this code if there is none. */
export function found<T>(value: T | undefined, code: ServiceCode): T {
  if (value === undefined) throw new Rejection(code);
  return value;
}
