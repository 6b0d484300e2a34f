/** Settings that the last release had. The start says what no longer happens, and what replaces it. */

interface RemovedSetting {
  env: string;
  flag: string;
  /** What to say of a value; undefined if nothing is lost without it. */
  say: (value: string) => string | undefined;
}

export type RemovedName = keyof typeof removedSettings;

export const removedSettings = {
  workers: {
    env: 'WORKERS',
    flag: '--workers',
    say: (value) => {
      if (value !== 'auto' && !(Number(value) > 1)) return undefined;
      const lost = value === 'auto' ? 'all cores but one' : `${Number(value) - 1} of ${Number(value)} processes`;
      return `WORKERS has no effect: a command is one process, so the capacity of ${lost} is gone. Run several instances over one REDIS_URL, as docs/operations.md says under “Several instances”.`;
    },
  },
} satisfies Record<string, RemovedSetting>;
