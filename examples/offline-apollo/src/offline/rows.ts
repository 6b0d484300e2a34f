/** A table of the device. What is written survives the end of the app. */
export interface Rows {
  all(): Promise<[key: string, value: unknown][]>;
  /** In one transaction: all of it, or an error and nothing. */
  write(put: readonly (readonly [key: string, value: unknown])[], remove?: readonly string[]): Promise<void>;
}

/** For a browser without storage, such as a private window, and for tests. */
export function rowsInMemory(): Rows {
  const rows = new Map<string, string>();
  return {
    all: async () => [...rows].map(([key, value]) => [key, JSON.parse(value) as unknown]),
    write: async (put, remove = []) => {
      for (const key of remove) rows.delete(key);
      for (const [key, value] of put) rows.set(key, JSON.stringify(value));
    },
  };
}
