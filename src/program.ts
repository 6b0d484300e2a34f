/** The commands of the program. What a command does is loaded when it is given. */
import { Command } from 'commander';
import { watchOutput } from './cli/output.ts';
import { addRemovedFlags, addSettingFlags } from './cli/setting-flags.ts';
import { addBackupCommand } from './commands/backup.ts';
import { CHECK_USAGE } from './check/finding.ts';
import { CHECK_SETTINGS, addCheckCommand } from './commands/check.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addDocumentCommands } from './commands/documents.ts';
import { ORIGIN_SETTINGS, addOriginCommand } from './commands/origin.ts';
import { serveFacade } from './commands/serve.ts';
import { addUsageCommand } from './commands/usage.ts';
import type { Flags } from './config/read.ts';
import { removedSettings } from './config/removed-settings.ts';
import { type SettingName, entries, settings } from './config/settings.ts';
import { version } from './package.ts';

const HELP_WIDTH = 100;

const program = new Command('catalog-graphql')
  .description('A GraphQL API over a catalog and community service, and that service itself, the origin.')
  .version(version)
  .configureOutput({ getOutHelpWidth: () => Math.min(process.stdout.columns ?? HELP_WIDTH, HELP_WIDTH) })
  .addHelpText('after', '\nEach setting is a flag or an environment variable, which is named last.')
  .helpCommand('help [command]', 'show the help of a command')
  .allowExcessArguments()
  .action(() => {
    const [name] = program.args;
    if (name === undefined) return serveFacade(flags());
    const names = [...program.commands.map((command) => command.name()), 'help'].join(', ');
    program.error(`error: unknown command '${name}'\n(The commands are ${names}.)`);
  });

addOriginCommand(program, flags);
addBackupCommand(program, flags);
addDocumentCommands(program);
addCheckCommand(program, flags);
addDoctorCommand(program, flags);
addUsageCommand(program);

const everySetting = entries().map(([name]) => name);
const settingsOf: Record<string, readonly SettingName[]> = {
  origin: ORIGIN_SETTINGS,
  check: CHECK_SETTINGS,
  doctor: everySetting,
};
addSettingFlags(program, everySetting);
for (const command of program.commands)
  addSettingFlags(command.allowExcessArguments(false), settingsOf[command.name()] ?? []);
for (const command of [program, ...program.commands.filter((each) => each.name() in settingsOf)])
  addRemovedFlags(command);
// `origin --data-dir x` sets the option of the command `origin`, not the option of the program.
program.enablePositionalOptions();

watchOutput(() => (program.args[0] === 'check' ? CHECK_USAGE : 1));

await program.parseAsync();

function flags(): Flags {
  const given = Object.assign({}, program.opts(), ...program.commands.map((command) => command.opts())) as object;
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => name in settings || removedSettings.some((each) => each.name === name)),
  );
}
