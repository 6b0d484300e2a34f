/** The settings as flags of a command, with the help for each. */
import { type Command, Option } from 'commander';
import { type SettingName, entries, flagOf } from '../config/settings.ts';

export function addSettingFlags(command: Command, names: readonly SettingName[]): void {
  for (const [name, { description, must, env, byDefault, shown, group = '' }] of entries()) {
    if (!names.includes(name)) continue;
    const text = `${description} (${must}; default: ${shown ?? String(byDefault(false))}) ${env}`;
    command.addOption(new Option(`${flagOf(name)} <value>`, text).helpGroup(`${group}:`));
  }
}
