/** Secrets that are in files, as containers mount them. */
import { readFileSync } from 'node:fs';
import { type FileWatch, watchFile } from '../lib/watch-file.ts';
import { type Config, type Setting, type Values, settings } from './settings.ts';

/** The setting that names the file, and the setting whose value the file has. */
const filed = {
  accessTokenFile: 'accessToken',
  redisUrlFile: 'redisUrl',
  idempotencyRedisUrlFile: 'idempotencyRedisUrl',
} as const;
type FileSetting = keyof typeof filed;
const fileSettings = Object.keys(filed) as FileSetting[];

/** Secrets, and the files that they are in. */
export type SecretSettings = Pick<Config, FileSetting | (typeof filed)[FileSetting]>;

/** The values that are in files, and what is wrong with them; no message has the content of a file. */
export function readSecretFiles(
  values: Values,
  nameOf: (name: FileSetting | (typeof filed)[FileSetting]) => string,
): { values: Partial<Values>; problems: string[] } {
  const problems: string[] = [];
  const found = fileSettings.flatMap((name) => {
    const path = values[name];
    if (path === undefined) return [];
    const secret = filed[name];
    if (values[secret] !== undefined) problems.push(`${nameOf(name)} must not be set, because ${nameOf(secret)} is`);
    const content = contentOf(path);
    const value = content instanceof Error ? undefined : valueIn(name, content);
    if (content instanceof Error) problems.push(`${nameOf(name)} must be a file that can be read (${content.message})`);
    else if (value === undefined) problems.push(`${nameOf(name)} ${mustContain(name)}`);
    return [[secret, value]];
  });
  return { values: Object.fromEntries(found) as Partial<Values>, problems };
}

export type SecretUsers = Readonly<Record<(typeof filed)[FileSetting], UseSecret>>;

/** `onOutcome` gets nothing once the value is in use; a sentence if it cannot be used, or not yet. */
type UseSecret = (value: string, onOutcome: (problem: string | undefined) => void) => void;

/** Passes on each secret whose file changed. `report` gets the variable, and what is wrong with its new value if that cannot be used. */
export function watchSecretFiles(
  config: SecretSettings,
  users: SecretUsers,
  report: (variable: string, problem: string | undefined) => void,
  everyMs?: number,
): FileWatch[] {
  return fileSettings.flatMap((name) => {
    const path = config[name];
    const use: UseSecret = users[filed[name]];
    if (path === undefined) return [];
    const { env } = settings[name];
    let latest = config[filed[name]];
    const onChange = (content: string): void => {
      const value = valueIn(name, content);
      if (value === undefined) return report(env, `it ${mustContain(name)}`);
      if (value === latest) return;
      latest = value;
      use(value, (problem) => report(env, problem));
    };
    return watchFile(path, {
      current: '', // it may have changed since the start read it
      onChange,
      ...(everyMs !== undefined && { everyMs }),
      onUnreadable: (code) => report(env, `it cannot be read (${code})`),
    });
  });
}

function contentOf(path: string): string | Error {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return new Error((error as NodeJS.ErrnoException).code);
  }
}

/** Editors and `echo` end a file with a line break. */
const valueIn = (name: FileSetting, content: string): string | undefined => settings[filed[name]].read(content.trim());

const mustContain = (name: FileSetting): string => `must contain ${(settings[filed[name]] as Setting<unknown>).must}`;
