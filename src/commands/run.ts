/** How a command runs: the settings are read, expected errors are printed without a stack, and a signal stops what serves. */
import type { Logger } from 'pino';
import { type Closable, closeAll, closeOnSignal, logPlainWarnings, logUnhandledErrors } from '../cli/process.ts';
import { type Flags, readConfig, withoutEffect } from '../config/read.ts';
import type { Config } from '../config/settings.ts';
import { createLog, logToStderr, ownStderr } from '../lib/log.ts';
import { printable } from '../lib/text/printable.ts';
import { UserError } from '../lib/user-error.ts';

/** Adds to `opened` what has to be closed at the end. Returns the output. */
export type Start = (config: Config, log: Logger, opened: Closable[]) => Promise<string>;

/** Runs what serves until a signal stops it, also one that comes while it starts. */
export function serve(flags: Flags, start: Start): Promise<void> {
  const stoppable: Start = async (config, log, opened) => {
    const stopping = closeOnSignal(opened, log);
    try {
      const output = await start(config, log, opened);
      return stopping.aborted ? '' : output;
    } catch (error) {
      if (stopping.aborted) return ''; // it could not use what the stop has closed
      throw error;
    }
  };
  return run(flags, stoppable);
}

export async function run(flags: Flags, start: Start): Promise<void> {
  const opened: Closable[] = [];
  try {
    const config = readConfig(undefined, flags);
    const log = createLog(config.logLevel, logToStderr(ownStderr()));
    logPlainWarnings(log);
    for (const warning of withoutEffect(flags)) log.warn(warning);
    const output = await start(config, log, opened);
    logUnhandledErrors(log);
    process.stdout.write(output);
  } catch (error) {
    await closeAll(opened);
    fail(error);
  }
}

/** Ends the command with the message of an expected error; any other is thrown, because its stack is needed. */
export function fail(error: unknown, exitCode = 1): void {
  const message = messageFor(error);
  if (message === undefined) throw error;
  process.stderr.write(`${printable(message)}\n`);
  process.exitCode = exitCode;
}

/** Undefined for an error that nobody expects. */
function messageFor(error: unknown): string | undefined {
  if (error instanceof UserError) return error.message;
  const { cause = error } = error as Error;
  const { code, errcode, message } = cause as NodeJS.ErrnoException & { errcode?: number };
  // A damaged file, a full disk, or a database of another user.
  if (code === 'ERR_SQLITE_ERROR') return `The database in DATA_DIR cannot be used: ${message} (SQLite ${errcode}).`;
  return undefined;
}
