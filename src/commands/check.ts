/** The command `check`, its options and its exit codes. What it does is loaded when it is given. */
import { type Command, Option } from 'commander';
import { type Flags, readConfig, withoutEffect } from '../config/read.ts';
import { type SettingName, entries } from '../config/settings.ts';
import { printable } from '../lib/text/printable.ts';
import type { CheckOptions } from '../check/command.ts';
import { CHECK_USAGE } from '../check/finding.ts';
import { fail } from './run.ts';

/** The settings that a verdict depends on. */
export const CHECK_SETTINGS: readonly SettingName[] = entries().flatMap(([name, { group }]) =>
  group?.startsWith('Limits of a') || name === 'introspection' ? [name] : [],
);

/** `flags`: the settings that were given as flags. */
export function addCheckCommand(program: Command, flags: () => Flags): void {
  program
    .command('check')
    .description('say what the server would say of documents, and what they cost; needs no network')
    .argument('[paths...]', 'GraphQL files, folders of them, - for the standard input, or manifests')
    .option(
      '--manifest <file>',
      'manifest of trusted documents (repeatable)',
      (file, all: string[]) => [...all, file],
      [],
    )
    .option(
      '--schema <file>',
      'an older schema, as text or introspection: what do documents lose that were valid under it?',
    )
    .option('--prices <file>', 'price file: an operation that costs more than it says is an error')
    .option('--update', 'write the price file')
    .addOption(
      new Option('--format <format>', 'text, JSON, or annotations of GitHub workflows')
        .choices(['text', 'json', 'github'])
        .default('text'),
    )
    .addHelpText('after', '\nExit code: 0, 1 if there are errors, 2 if it cannot run or has not read all documents.')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : CHECK_USAGE))
    .action((paths: string[], options: CheckOptions) => check(paths, options, flags()));
}

async function check(paths: readonly string[], options: CheckOptions, flags: Flags): Promise<void> {
  try {
    // The manifests of the server are not read: the check names its own.
    for (const warning of withoutEffect(flags)) process.stderr.write(`${printable(warning)}\n`);
    const config = readConfig(undefined, { ...flags, persistedOperations: '', persistedOnly: '' });
    const [{ runCheck }, { schema }] = await Promise.all([import('../check/command.ts'), import('../graph/schema.ts')]);
    const { output, exitCode } = await runCheck(paths, options, schema, config);
    process.exitCode = exitCode;
    process.stdout.write(printable(output));
  } catch (error) {
    fail(error, CHECK_USAGE);
  }
}
