import type { Dispatcher } from 'undici';
import { type Lifetime, offEnd, onEnd } from './lifetime.ts';

/** An answer as it came from the wire, its body in one piece. */
export interface RawAnswer {
  status: number;
  headers: RawHeaders;
  body: Buffer;
}

/** Of the headers of an answer, those that somebody reads; one that is sent twice is one list. */
export interface RawHeaders {
  'cache-control'?: string;
  'content-encoding'?: string;
  'retry-after'?: string;
}
const readHeaders: readonly (keyof RawHeaders)[] = ['cache-control', 'content-encoding', 'retry-after'];

/**
 * One request to its last byte, without a stream between: a body is wanted whole or not at all. `refuse` says what is wrong with a
 * body of so many bytes, before more of it is taken.
 */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  lifetime: Lifetime,
  refuse: (bytes: number) => Error | undefined,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;
    let status = 0;
    let headers: RawHeaders = {};
    let abort: ((reason?: Error) => void) | undefined;
    const stop = (reason: Error) => abort?.(reason);
    onEnd(lifetime, stop);
    dispatcher.dispatch(options, {
      onConnect(given) {
        abort = given;
        if (lifetime.ended) stop(lifetime.ended);
      },
      onHeaders(code, raw) {
        status = code;
        headers = headersOf(raw);
        return true;
      },
      onData(chunk) {
        size += chunk.length;
        const fault = refuse(size);
        if (fault) abort?.(fault);
        else if (!first) first = chunk;
        else (more ??= [first]).push(chunk);
        return true;
      },
      onComplete() {
        offEnd(lifetime, stop);
        resolve({ status, headers, body: more ? Buffer.concat(more) : (first ?? nothing) });
      },
      onError(error) {
        offEnd(lifetime, stop);
        reject(error);
      },
    });
  });
}

const nothing = Buffer.alloc(0);

/** Names and values in turn. */
function headersOf(raw: readonly Buffer[]): RawHeaders {
  const headers: RawHeaders = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!;
    for (const known of readHeaders) {
      if (name.length !== known.length || name.toString('latin1').toLowerCase() !== known) continue;
      const value = raw[at + 1]!.toString('latin1');
      headers[known] = headers[known] === undefined ? value : `${headers[known]}, ${value}`;
    }
  }
  return headers;
}
