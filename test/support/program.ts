import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { dataFolder } from './data-folder.ts';
import { afterEachFile } from './hooks.ts';
import { made } from './made.ts';
import { stacksIn } from './unhandled.ts';

/** The program to run, and its working directory. */
interface Location {
  main?: string;
  cwd?: string;
}

export interface Program {
  /** The URL of the facade; empty for an origin alone. */
  url: string;
  origin: string;
  banner: string;
  pid: number;
  /** Fails if the program has exited, or has written a stack trace, which every unhandled error does. */
  expectUnharmed(): void;
  /** Sends a signal and returns how the program ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Starts the built program, by default with a filled data directory of its own, and waits for its banner. */
export async function startProgram(
  env: NodeJS.ProcessEnv,
  args: string[] = [],
  location: Location = {},
): Promise<Program> {
  const run = await spawnProgram(env, args, location);
  const banner = await Promise.race([
    run.banner,
    ...(env.PORT !== undefined && env.PORT !== '0' ? [listening(env.PORT)] : []),
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

/** Only a port that the system has chosen is printed: another one is asked until it answers. */
async function listening(port: string): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const isUp = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return `graph ${url}/graphql`;
    await sleep(50);
  }
}

/** Runs the program until it exits: for a start that must fail. */
export async function runProgram(env: NodeJS.ProcessEnv, args: string[] = [], location: Location = {}): Promise<Ended> {
  return (await spawnProgram(env, args, location)).ended;
}

/** Kills the program when `when` resolves, before its banner. */
export async function killProgram(env: NodeJS.ProcessEnv, when: () => Promise<void>): Promise<Ended> {
  const run = await spawnProgram(env, []);
  await when();
  run.child.kill('SIGKILL');
  return run.ended;
}

/** Killed after the tests, also after one that fails. */
const running = new Set<Awaited<ReturnType<typeof spawnProgram>>>();
afterEachFile(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
});

async function spawnProgram(env: NodeJS.ProcessEnv, args: string[], { main, cwd }: Location = {}) {
  const program = main ?? (await made('program'));
  const dataDir = mkdtempSync(join(dataFolder(), 'catalog-'));
  if (!('DATA_DIR' in env) && !env.BASE_URL) cpSync(await made('demo'), dataDir, { recursive: true });
  const child = spawn(process.execPath, [program, ...args], {
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
