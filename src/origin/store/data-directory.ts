/** The folders of an origin's data. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from '../../lib/user-error.ts';

export function checkWritable(dataDir: string): void {
  try {
    makeDirectory(resolve(dataDir));
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(
      `Cannot write to ${resolve(dataDir)} (${code}). Set DATA_DIR to a directory that can be written.`,
    );
  }
}

/** Node's option `recursive` never returns for a directory such as /proc, in which nothing can be created. */
export function makeDirectory(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeDirectory(parent);
  mkdirSync(path);
}
