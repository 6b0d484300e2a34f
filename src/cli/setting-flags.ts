/** The settings as flags of a command, with the help for each. */
import { type Command, Option } from 'commander';
import { removedSettings } from '../config/removed-settings.ts';
import { type SettingName, entries, flagOf } from '../config/settings.ts';

/** Flags of settings that are gone are accepted and not shown, so that what starts the program need not change at once. */
export function addRemovedFlags(command: Command): void {
  for (const { flag } of removedSettings) command.addOption(new Option(`${flag} <value>`).hideHelp());
}

export function addSettingFlags(command: Command, names: readonly SettingName[]): void {
  for (const [name, { description, must, env, byDefault, shown, group = '' }] of entries()) {
    if (!names.includes(name)) continue;
    const text = `${description} (${must}; default: ${shown ?? String(byDefault(false))}) ${env}`;
    command.addOption(new Option(`${flagOf(name)} <value>`, text).helpGroup(`${group}:`));
  }
}
