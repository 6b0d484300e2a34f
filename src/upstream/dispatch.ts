import type { Dispatcher } from 'undici';

/** An answer as it came from the wire, its body in one piece. */
export interface RawAnswer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * One request to its last byte, without a stream between: a body is wanted whole or not at all. `refuse` says what is wrong with a
 * body of so many bytes, before more of it is taken.
 */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  refuse: (bytes: number) => Error | undefined,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let statusCode = 0;
    let headers: RawAnswer['headers'] = {};
    let controller: Dispatcher.DispatchController | undefined;
    const stop = () => controller?.abort(signal.reason as Error);
    const settle = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    dispatcher.dispatch(options, {
      onRequestStart(given) {
        controller = given;
        if (signal.aborted) stop();
      },
      onResponseStart(_, status, came) {
        statusCode = status;
        headers = came;
      },
      onResponseData(given, chunk) {
        size += chunk.length;
        const fault = refuse(size);
        if (fault) given.abort(fault);
        else chunks.push(chunk);
      },
      onResponseEnd() {
        settle();
        resolve({ statusCode, headers, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
      },
      onResponseError(_, error) {
        settle();
        reject(error);
      },
    });
  });
}
