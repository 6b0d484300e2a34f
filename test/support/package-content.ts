import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The files of an installed package by their paths, and their bytes. */
export function contentOf(folder: string): { files: string[]; bytes: number } {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map(({ parentPath, name }) => join(parentPath, name));
  return {
    files: paths.map((path) => relative(folder, path)).sort(),
    bytes: paths.reduce((sum, path) => sum + statSync(path).size, 0),
  };
}
