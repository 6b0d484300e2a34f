import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import { stacksIn } from './unhandled.ts';

/** Which program is run, and where. */
interface Place {
  main?: string;
  cwd?: string;
}

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Program {
  /** Where the graph is; empty for an origin alone. */
  url: string;
  origin: string;
  banner: string;
  pid: number;
  /** Fails where the program has ended, or has written the stack of an error, which one that nobody handles always does. */
  expectUnharmed(): void;
  /** Asks it to end and tells how it did. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Starts the built program on a data directory of its own, unless one is named, and waits for its banner. */
export async function startProgram(env: NodeJS.ProcessEnv, args: string[] = [], place: Place = {}): Promise<Program> {
  const run = spawned(env, args, place);
  const banner = await Promise.race([
    run.banner,
    run.ended.then(({ code, err }) => {
      throw new Error(`The program ended with ${code}: ${err}`);
    }),
  ]);
  return {
    url: /graph +(\S+)\/graphql/.exec(banner)?.[1] ?? '',
    origin: /origin +(\S+)/.exec(banner)?.[1] ?? '',
    banner,
    pid: run.child.pid ?? 0,
    expectUnharmed() {
      const { exitCode, signalCode } = run.child;
      expect({ exitCode, signalCode, stacks: stacksIn(run.written()) }).toEqual({
        exitCode: null,
        signalCode: null,
        stacks: [],
      });
    },
    stop(signal = 'SIGTERM') {
      run.child.kill(signal);
      return run.ended;
    },
  };
}

/** Runs it to its end: for what must not start. */
export function runProgram(env: NodeJS.ProcessEnv, args: string[] = [], place: Place = {}): Promise<Ended> {
  return spawned(env, args, place).ended;
}

/** Kills it on the way: before its banner, at a moment of the caller's choice. */
export async function killProgram(env: NodeJS.ProcessEnv, when: () => Promise<void>): Promise<Ended> {
  const run = spawned(env, []);
  await when();
  run.child.kill('SIGKILL');
  return run.ended;
}

/** A test that fails in the middle does not come to end what it has started. */
const running = new Set<ReturnType<typeof spawned>>();
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
});

function spawned(env: NodeJS.ProcessEnv, args: string[], { main = built, cwd }: Place = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-'));
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...env },
    ...(cwd && { cwd }),
  });
  let out = '';
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const banner = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (/\n$/.test(out)) resolve(out);
    });
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      rmSync(dataDir, { recursive: true, force: true });
      resolve({ code, out, err });
    });
  });
  const run = { child, banner, ended, written: () => out + err };
  running.add(run);
  void ended.then(() => running.delete(run));
  return run;
}
