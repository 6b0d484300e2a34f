/**
 * Operations of the embedding program, run without HTTP. Limits, plan, price, caches, admission and deadline are those of a request; whole
 * responses are not stored.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { cancel, createCancellationToken } from '../lib/cancellation.ts';
import { settlesWithin } from '../lib/promises.ts';
import type { AdmitRequest } from '../server/feature.ts';
import type { Documents } from '../server/graphql/documents/persisted-documents.ts';
import type { ResultParts } from '../server/graphql/incremental-delivery.ts';
import { type Outcome, isWhole } from '../server/graphql/outcome.ts';
import type { RunOperation } from '../server/graphql/pipeline.ts';
import { asksForReload, checkParams, explainHeader, onErrorOf } from '../server/graphql/request.ts';
import type { Admission, ProgramRun } from '../server/http/connections/admission.ts';
import type { IncrementalType } from '../server/http/request/accept.ts';
import { requestIdOf } from '../server/http/request/headers.ts';
import { HttpError, type HelpSettings, withHelp } from '../server/http/response/http-error.ts';
import { withFiles } from './file-variables.ts';

export type Program = ReturnType<typeof createProgram>;

/** An operation, and who sent it. */
export interface ProgramRequest {
  /** The parameters, which are not checked yet. */
  readonly params: object;
  /** The token, the key, the id and `x-explain` are read of them, as of those of an HTTP request. */
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** Whether `x-explain` is obeyed. */
  readonly mayExplain: boolean;
  /** Undefined if the response is to be whole. */
  readonly incremental: IncrementalType | undefined;
  readonly signal: AbortSignal | undefined;
}

interface ProgramParts {
  config: HelpSettings;
  log: Logger;
  admission: Admission;
  documents: Documents;
  run: RunOperation;
  /** What features ask about each request of a client. */
  checks: readonly AdmitRequest[];
  loading: () => Promise<void> | undefined;
}

/** What ends an operation that runs. */
interface Running extends ProgramRun {
  /** Rejects if the client leaves, or if the operation does not end in time. */
  readonly interrupted: Promise<never>;
  readonly end: () => void;
}

/** What a result becomes for whoever reads it. */
type Show<Shown> = (result: ExecutionResult) => Shown;

const CLOSED = 'The facade is closed.';

export function createProgram({ config, log, admission, documents, run, checks, loading }: ProgramParts) {
  const open = new Set<Running>();
  let isClosed = false;

  async function outcomeOf(request: ProgramRequest, running: Running): Promise<Outcome> {
    const { headers, address, incremental } = request;
    for (const check of checks) check({ headers });
    const params = checkParams(request.params);
    const explain = explainHeader({ headers }, request.mayExplain);
    const { requestId, lifetime } = running;
    const { authorization, 'idempotency-key': idempotencyKey } = headers;
    const sender = { authorization, address, requestId, headers, idempotencyKey, cancellation: lifetime };
    const variables = params.variables && (await withFiles(params.variables));
    const isReload = asksForReload(headers);
    const operation = { ...sender, isReload, variables, explain, incremental, onError: onErrorOf(params) };
    const slot = await admission.enter({ exchange: running, lifetime });
    running.onClose(slot.release);
    const prepared = await documents({ params, mayWrite: true });
    if (idempotencyKey === undefined) return run(prepared, operation);
    return run(prepared, { ...operation, parking: admission.parking(slot, { exchange: running, lifetime }) });
  }

  return {
    /**
     * Runs an operation. Whatever is wrong with it is in the errors of the result. Rejects if the signal is aborted, with its reason, and
     * if the facade is closed. `show` gets the result, or each part.
     */
    async run<Shown>(request: ProgramRequest, show: Show<Shown>): Promise<Shown | AsyncIterable<Shown>> {
      for (let waiting = loading(); waiting; waiting = loading()) await waiting;
      if (isClosed) throw new Error(CLOSED);
      request.signal?.throwIfAborted();
      const running = begin(request, () => open.delete(running));
      open.add(running);
      try {
        const outcome = await Promise.race([outcomeOf(request, running), running.interrupted]);
        if (!isWhole(outcome)) return untilEnd(outcome.result as ResultParts, running, show);
        running.end();
        const { errors } = outcome.result;
        return show(errors ? { ...outcome.result, errors: withHelp(errors, config) } : outcome.result);
      } catch (error) {
        running.end();
        request.signal?.throwIfAborted();
        return show({ errors: withHelp([requestError(error, log)], config) });
      }
    },

    /** Waits for running operations, and cancels those that do not end in time. */
    async close(withinMs: number): Promise<void> {
      isClosed = true;
      const ended = Promise.all([...open].map((running) => new Promise<void>((resolve) => running.onClose(resolve))));
      if (await settlesWithin(withinMs, ended)) return;
      for (const { lifetime, end } of open) {
        cancel(lifetime, new Error('The facade was closed.'));
        end();
      }
    },
  };
}

function begin({ headers, signal }: ProgramRequest, onEnd: () => void): Running {
  const lifetime = createCancellationToken();
  let reject = (_: Error): void => undefined;
  const interrupted = new Promise<never>((_, rejected) => (reject = rejected));
  interrupted.catch(() => undefined); // it may be rejected when the operation has ended
  const listeners = [onEnd];
  let isOver = false;
  const leave = () => {
    cancel(lifetime, new Error('The client disconnected.'));
    reject(signal!.reason as Error);
  };
  signal?.addEventListener('abort', leave, { once: true });
  return {
    requestId: requestIdOf({ headers }),
    lifetime,
    interrupted,
    onOverdue: reject,
    onClose: (listener) => void (isOver ? listener() : listeners.push(listener)),
    end: () => {
      isOver = true;
      signal?.removeEventListener('abort', leave);
      for (const listener of listeners.splice(0)) listener();
    },
  };
}

/** The parts of a response. The operation holds its slot until the last one, or until nobody reads them any more. */
function untilEnd<Shown>(parts: ResultParts, running: Running, show: Show<Shown>): AsyncIterable<Shown> {
  const source = parts[Symbol.asyncIterator]();
  let hasBegun = false;
  const next = async (): Promise<IteratorResult<Shown>> => {
    hasBegun = true;
    try {
      const part = await source.next();
      if (!part.done) return { done: false, value: show(part.value) };
      running.end();
      return { done: true, value: undefined };
    } catch (error) {
      running.end();
      throw error;
    }
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        cancel(running.lifetime, new Error('The client disconnected.'));
        try {
          // A generator ends only what it has begun.
          if (!hasBegun) await next();
          await source.return?.();
        } finally {
          running.end();
        }
        return { done: true, value: undefined };
      },
    }),
  };
}

/** The error of a request that is not run. */
function requestError(error: unknown, log: Logger): GraphQLError {
  if (!(error instanceof HttpError)) {
    log.error({ err: error }, 'a request failed');
    return new GraphQLError('Something went wrong.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } });
  }
  const { message, extensions, status, headers } = error;
  return new GraphQLError(message, { extensions: { ...extensions, http: { status, headers } } });
}
