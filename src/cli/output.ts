/** The standard output of a command: a result that cannot be written must not look like success. */

/** Called once. `failed`: the exit code of the command if its output cannot be written. */
export function watchOutput(failed: () => number): void {
  process.stderr.on('error', () => undefined); // there is nowhere to tell it
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return; // the reader of a pipe may close it early: `catalog-graphql schema | head`
    process.stderr.write(`The output cannot be written (${code}).\n`);
    process.exitCode = failed();
  });
}
