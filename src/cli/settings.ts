/** Declares the command `settings`. */
import { type Command, Option } from 'commander';
import { settingsFormats } from '../config/settings-formats.ts';
import { writeDocument } from './output.ts';

type SettingsFormat = keyof typeof settingsFormats;

export function addSettingsCommand(program: Command): void {
  program
    .command('settings')
    .description('print all settings: as a schema of the environment, as a file of variables, or as the page of docs')
    .addOption(
      new Option('--format <format>', 'of the output')
        .choices(Object.keys(settingsFormats))
        .default('markdown' satisfies SettingsFormat),
    )
    .action(({ format }: { format: SettingsFormat }) => {
      writeDocument(`${settingsFormats[format]()}\n`);
    });
}
