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

export type TokenSettings = Pick<Config, 'accessTokenFile' | 'accessToken'>;

/** The values that are in files, and what is wrong with them; no message has the content of a file. */
export function readSecretFiles(
  values: Values,
  nameOf: (name: FileSetting | (typeof filed)[FileSetting]) => string,
): { values: Partial<Values>; problems: string[] } {
  const problems: string[] = [];
  const found: Partial<Values> = {};
  for (const name of Object.keys(filed) as FileSetting[]) {
    const path = values[name];
    if (path === undefined) continue;
    const secret = filed[name];
    if (values[secret] !== undefined) problems.push(`${nameOf(name)} must not be set, because ${nameOf(secret)} is`);
    try {
      found[secret] = valueIn(name, readFileSync(path, 'utf8'));
      if (found[secret] === undefined) problems.push(`${nameOf(name)} ${mustContain(name)}`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      problems.push(`${nameOf(name)} must be a file that can be read (${code})`);
    }
  }
  return { values: found, problems };
}

/** `onToken` gets the token each time that the file has another one, `onProblem` what is wrong with a new content. */
export function watchTokenFile(
  { accessTokenFile: path, accessToken }: TokenSettings,
  watched: { onToken: (token: string) => void; onProblem: (problem: string) => void; everyMs?: number },
): FileWatch | undefined {
  const { onToken, onProblem, ...timing } = watched;
  if (path === undefined) return undefined;
  let latest = accessToken;
  const onChange = (content: string): void => {
    const token = valueIn('accessTokenFile', content);
    if (token === undefined) return onProblem(`it ${mustContain('accessTokenFile')}`);
    if (token === latest) return;
    latest = token;
    onToken(token);
  };
  // It may have changed since the start read it.
  return watchFile(path, {
    ...timing,
    current: '',
    onChange,
    onUnreadable: (code) => onProblem(`it cannot be read (${code})`),
  });
}

/** Editors and `echo` end a file with a line break. */
const valueIn = (name: FileSetting, content: string): string | undefined => settings[filed[name]].read(content.trim());

const mustContain = (name: FileSetting): string => `must contain ${(settings[filed[name]] as Setting<unknown>).must}`;
