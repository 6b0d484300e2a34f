/** Secrets that are in files, as containers mount them. */
import { readFileSync } from 'node:fs';
import { type FileWatch, watchFile } from '../lib/watch-file.ts';
import { type Config, type Setting, type Values, settings } from './settings.ts';

/** The setting that names the file, and the setting whose value the file has. */
const filed = {
  accessTokenFile: 'accessToken',
  redisUrlFile: 'redisUrl',
  idempotencyRedisUrlFile: 'idempotencyRedisUrl',
  otelExporterOtlpHeadersFile: 'otelExporterOtlpHeaders',
} as const;
type FileSetting = keyof typeof filed;
const fileSettings = Object.keys(filed) as FileSetting[];

/** Secrets, and the files that they are in. */
export type SecretSettings = Pick<Config, FileSetting | (typeof filed)[FileSetting]>;

/** The values that are in files, and what is wrong with them; no message has the content of a file. */
export function readSecretFiles(
  values: Values,
  nameOf: (name: keyof Values) => string,
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

export interface SecretUsers {
  accessToken: UseSecret<string>;
  redisUrl: UseSecret<string>;
  idempotencyRedisUrl: UseSecret<string>;
  otelExporterOtlpHeaders: UseSecret<Readonly<Record<string, string>>>;
}

/** `onOutcome` gets nothing once the value is in use; a sentence if it cannot be used, or not yet. */
type UseSecret<Value> = (value: Value, onOutcome: (problem: string | undefined) => void) => void;

/** Passes on each secret whose file changed. `report` gets the variable, and what is wrong with its new value if that cannot be used. */
export function watchSecretFiles(
  config: SecretSettings,
  users: Partial<SecretUsers>,
  report: (variable: string, problem: string | undefined) => void,
  everyMs?: number,
): FileWatch[] {
  return fileSettings.flatMap((name) => {
    const path = config[name];
    const use = users[filed[name]] as UseSecret<unknown> | undefined;
    if (path === undefined || !use) return [];
    const { env } = settings[name];
    let latest = JSON.stringify(config[filed[name]]);
    const onChange = (content: string): void => {
      const value = valueIn(name, content);
      if (value === undefined) return report(env, `it ${mustContain(name)}`);
      if (JSON.stringify(value) === latest) return;
      latest = JSON.stringify(value);
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
const valueIn = (name: FileSetting, content: string): unknown => settings[filed[name]].read(content.trim());

const mustContain = (name: FileSetting): string => `must contain ${(settings[filed[name]] as Setting<unknown>).must}`;
