/** The standard output of a command: a result that is lost must not look like success. */
import { readFileSync, readlinkSync } from 'node:fs';

/** Called once. `failed`: the exit code of the command if its output cannot be written. */
export function watchOutput(failed: () => number): void {
  process.stderr.on('error', () => undefined); // there is nowhere to tell it
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return; // the reader of a pipe may close it early: `catalog-graphql schema | head`
    process.stderr.write(`The output cannot be written (${code}).\n`);
    process.exitCode = failed();
  });
}

/** Writes the result of a command whose only purpose is that. `failed`: the exit code of the command if it cannot. */
export function writeDocument(text: string, failed = 1): void {
  if (isClosed()) {
    process.stderr.write('The output cannot be written: the standard output is closed.\n');
    process.exitCode = failed;
  } else process.stdout.write(text);
}

/** Node opens /dev/null instead of a closed output, for reading too; a shell opens it for writing only. Elsewhere than on Linux it cannot be seen. */
function isClosed(): boolean {
  try {
    if (readlinkSync('/proc/self/fd/1') !== '/dev/null') return false;
    const [, flags = '1'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync('/proc/self/fdinfo/1', 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & 3) === 2; // O_RDWR
  } catch {
    return false;
  }
}
