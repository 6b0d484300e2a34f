/** Uses files with documents as they change. A file that cannot be used changes nothing. */
import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { filesAt } from '../config/documents/graphql-files.ts';
import { ConfigError } from '../config/read.ts';
import { type FileWatch, stateOfFile, watchContent } from '../lib/watch-file.ts';
import { UserError } from '../lib/user-error.ts';

/** By the name of the setting: `outdated` if the file has changed and cannot be used. */
export type ManifestStates = Readonly<Record<string, 'current' | 'outdated'>>;

export type Manifests = ReturnType<typeof createManifests>;

export function createManifests(log: Logger) {
  const states: Record<string, 'current' | 'outdated'> = {};
  const followed: { watch: FileWatch; reload: () => Promise<void> }[] = [];

  function follow(variable: string, path: string, use: () => Promise<string | undefined>): void {
    states[variable] = 'current';
    let last: Promise<void> = Promise.resolve();
    const reload = () => (last = last.then(() => load(variable, use)));
    const onUnreadable = (code: string) => outdated(variable, `it cannot be read (${code})`);
    const state = () => stateOfFiles(path);
    const watch = watchContent({ state, read: state }, { current: '', onChange: () => void reload(), onUnreadable });
    followed.push({ watch, reload });
  }

  async function load(variable: string, use: () => Promise<string | undefined>): Promise<void> {
    try {
      const text = await use();
      const wasOutdated = states[variable] === 'outdated';
      states[variable] = 'current';
      if (text !== undefined || wasOutdated)
        log.info({ variable }, `${variable} was read again: ${text ?? 'as before'}`);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      outdated(variable, error instanceof ConfigError ? error.problems.join(' ') : error.message);
    }
  }

  function outdated(variable: string, problem: string): void {
    states[variable] = 'outdated';
    log.error({ variable, problem }, `${variable} cannot be used as it is now: what was read before stays in use`);
  }

  return {
    /** Follows the file of a setting. `use` returns what to log, or undefined if nothing has changed; it rejects with a UserError. */
    follow,
    states: (): ManifestStates => states,
    /** Reads all files now. */
    reload: async (): Promise<void> => {
      await Promise.all(followed.map(({ reload }) => reload()));
    },
    close: (): void => followed.forEach(({ watch }) => watch.close()),
  };
}

/** The state of a file, or of all GraphQL files of a folder. */
async function stateOfFiles(path: string): Promise<string> {
  await stat(path); // rejects with a code
  const states = await Promise.all(filesAt(path).map(async (file) => `${file} ${await stateOfFile(file)}`));
  return states.join('\n');
}
