/** Finds GraphQL files by their paths and by folders, and reads them. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { readTextFile } from '../../lib/text/read-text.ts';
import { UserError } from '../../lib/user-error.ts';

/** The GraphQL files of all paths, each once, however many paths and links lead to it. */
export function graphqlFiles(paths: readonly string[]): string[] {
  const files = new Map<string, string>();
  for (const path of paths.flatMap(filesAt)) {
    const real = path === STANDARD_INPUT ? path : realPath(path);
    if (!files.has(real)) files.set(real, path);
  }
  return [...files.values()];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** The GraphQL files of a folder; of a file, itself. */
export function filesAt(path: string): string[] {
  if (path === STANDARD_INPUT) return [path];
  try {
    if (!statSync(path).isDirectory()) return [path];
    return filesBelow(path).filter(isGraphql);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

const STANDARD_INPUT = '-';
const isGraphql = (path: string): boolean => /\.(?:graphql|gql)$/.test(path);

/** Files that are not hidden. A mounted ConfigMap has its files in a hidden folder, with links to them beside it. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => !isHidden(file))
    .sort()
    .map((file) => join(folder, file))
    .filter((file) => !statSync(file, { throwIfNoEntry: false })?.isDirectory());

const isHidden = (file: string): boolean => file.split(sep).some((name) => /^\.|^node_modules$/.test(name));

const cannotRead = (path: string, error: unknown): UserError =>
  new UserError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);

export function readGraphqlFile(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}
