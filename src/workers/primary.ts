/** The process that starts the workers, distributes connections to them, and replaces those that end. It serves no request itself. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';
import type { StartedFacade } from '../cli/banner.ts';
import type { Closable } from '../cli/process.ts';
import type { Config } from '../config/settings.ts';
import { settlesWithin } from '../lib/promises.ts';
import { type Channel, openChannel } from './channel.ts';
import { createMembers } from './members.ts';
import { watchHandOvers } from './hand-overs.ts';
import { UserError } from '../lib/user-error.ts';

/** What a worker needs to know beside the settings. */
export interface Assignment {
  /** Not 0: a replacement must open the port of the others. */
  port: number;
  originUrl: string | undefined;
}

/** A worker that ends is replaced at once; if it ends again soon, after this pause, which doubles. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;
/** A worker that ran this long has no part in a series. */
const STABLE_MS = 60_000;
/** What a worker may take beyond DRAIN_MS and SHUTDOWN_MS, before it is killed. */
const STOP_MARGIN_MS = 5_000;

export interface StartedWorkers extends Closable, StartedFacade {
  /** Sends a signal to all workers that accept requests. */
  signal(name: NodeJS.Signals): void;
}

export async function startWorkers(config: Config, log: Logger): Promise<StartedWorkers> {
  const port = config.port || (await freePort(config.host));
  /** A worker has a channel once it has asked for its assignment: what it is sent before is lost. */
  const running = new Map<Worker, Channel | undefined>();
  const members = createMembers((worker) => endSilent(worker, log), config.idempotencyTtlSeconds);
  const watch = watchHandOvers();
  const timers = new Set<NodeJS.Timeout>();
  let isStarting = true;
  let isClosing = false;

  /** Resolves when the worker listens, or rejects if it cannot start. */
  function start(pauseMs: number): Promise<StartedFacade> {
    const startedAt = performance.now();
    const worker = cluster.fork();
    watch(worker);
    const listening = new Promise<StartedFacade>((resolve, reject) => {
      const channel = openChannel(endOf(worker), {
        assignment: (): Assignment => {
          running.set(worker, channel);
          return { port, originUrl: config.ownOrigin ? config.baseUrl : undefined };
        },
        listening: (facade) => {
          members.add(worker, channel);
          resolve(facade as StartedFacade);
        },
        failed: (reason) => reject(new UserError(reason as string)),
        ...members.replies,
        othersAcceptWork: () => !isClosing && members.doOthersAcceptWork(worker),
      });
      running.set(worker, undefined);
      worker.once('exit', (code, signal) => {
        reject(new UserError(`A worker ended at its start (${signal ?? code}).`));
        const isStartFailure = isStarting && !members.has(worker);
        members.remove(worker);
        running.delete(worker);
        if (isClosing || isStartFailure) return;
        replace(worker, { code, signal }, performance.now() - startedAt < STABLE_MS ? pauseMs : 0);
      });
    });
    return listening;
  }

  function replace({ process: { pid } }: Worker, how: object, pauseMs: number): void {
    log.warn({ worker: pid, ...how, pauseMs }, 'a worker ended: another is started');
    members.onRestart();
    const timer = setTimeout(() => {
      timers.delete(timer);
      start(Math.min(pauseMs * 2 || FIRST_PAUSE_MS, MAX_PAUSE_MS)).catch((error: Error) =>
        log.error({ reason: error.message }, 'a worker did not start'),
      );
    }, pauseMs);
    timers.add(timer);
  }

  async function close(): Promise<void> {
    isClosing = true;
    for (const timer of timers) clearTimeout(timer);
    const ends = [...running.keys()].map((worker) => once(worker, 'exit'));
    for (const [worker, channel] of running)
      if (channel) void channel.ask('stop');
      else worker.process.kill('SIGKILL');
    const { drainMs, shutdownMs } = config;
    if (await settlesWithin(drainMs + shutdownMs + STOP_MARGIN_MS, Promise.all(ends))) return;
    for (const worker of running.keys()) worker.process.kill('SIGKILL');
    await Promise.all(ends);
  }

  try {
    const [facade] = await Promise.all(Array.from({ length: config.workers }, () => start(0)));
    isStarting = false;
    return {
      ...facade!,
      signal: (name: NodeJS.Signals) => members.each((worker) => worker.process.kill(name)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function endOf(worker: Worker) {
  return {
    send: (message: object) => void (worker.isConnected() && worker.send(message, ignore)),
    onMessage: (listener: (message: unknown) => void) => void worker.on('message', listener),
    onClose: (listener: () => void) => void worker.once('disconnect', listener),
  };
}

/** A silent worker would hold its connections, and could not handle SIGTERM. Another one replaces it. */
function endSilent({ process: worker }: Worker, log: Logger): void {
  log.error({ worker: worker.pid }, 'a worker does not reply any more: it is killed');
  worker.kill('SIGKILL');
}

/** For messages to a worker that has just ended. */
const ignore = (): void => undefined;

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
