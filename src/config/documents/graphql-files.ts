/** Finds GraphQL files by their paths and by folders. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { cannotRead } from '../../lib/text/read-text.ts';

const STANDARD_INPUT = '-';

/** The GraphQL files of all paths, each once, however many paths and links lead to it. Throws a UserError. */
export function graphqlFiles(paths: readonly string[]): string[] {
  const files = new Map<string, string>();
  for (const path of paths)
    try {
      for (const file of filesAt(path)) {
        const real = file === STANDARD_INPUT ? file : realpathSync(file);
        if (!files.has(real)) files.set(real, file);
      }
    } catch (error) {
      throw cannotRead(path, error);
    }
  return [...files.values()];
}

/** The GraphQL files of a folder; of a file, itself. */
const filesAt = (path: string): string[] =>
  path !== STANDARD_INPUT && statSync(path).isDirectory()
    ? filesBelow(path).filter((file) => /\.(?:graphql|gql)$/.test(file))
    : [path];

/** Files that are not hidden. A mounted ConfigMap has its files in a hidden folder, with links to them beside it. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => !isHidden(file))
    .sort()
    .map((file) => join(folder, file))
    .filter((file) => !statSync(file, { throwIfNoEntry: false })?.isDirectory());

const isHidden = (file: string): boolean => file.split(sep).some((name) => /^\.|^node_modules$/.test(name));
