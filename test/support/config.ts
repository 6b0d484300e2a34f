import type { Derived, Fixed } from '../../src/config/fixed.ts';
import { readConfig } from '../../src/config/read.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';
import type { Config, SettingName } from '../../src/config/settings.ts';

export type TestFlags = Partial<Record<SettingName | keyof Fixed | keyof Derived, string>>;

/** The settings of a test, which may also choose the numbers that are no settings: as flags, or as the variables that they were. */
export function configWith(env: NodeJS.ProcessEnv, flags: TestFlags = {}): Config {
  const config = readConfig(env, flags);
  const chosen = removedSettings.flatMap(({ name, env: variable }) => {
    const text = (flags as Readonly<Record<string, string | undefined>>)[name] ?? env[variable];
    if (text === undefined) return [];
    if (!(name in config)) throw new Error(`${variable} is no setting`);
    return [[name, Number(text)]];
  });
  return Object.freeze({ ...config, ...(Object.fromEntries(chosen) as Partial<Fixed & Derived>) });
}
