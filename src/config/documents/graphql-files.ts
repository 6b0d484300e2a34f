/** Finds GraphQL files by their paths, by folders and by patterns, and reads them. */
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

/** The GraphQL files of a folder or of a pattern such as `src/**\/*.graphql`; of a file, itself. */
export function filesAt(path: string): string[] {
  if (path === STANDARD_INPUT) return [path];
  const pattern = isThere(path) ? undefined : patternOf(path);
  if (pattern) return pattern;
  try {
    if (!statSync(path).isDirectory()) return [path];
    return filesBelow(path).filter(isGraphql);
  } catch (error) {
    throw error instanceof UserError ? error : cannotRead(path, error);
  }
}

const STANDARD_INPUT = '-';
const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const isGraphql = (path: string): boolean => /\.(?:graphql|gql)$/.test(path);

/** Files that are not hidden. A mounted ConfigMap has its files in a hidden folder, with links to them beside it. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => !isHidden(file))
    .sort()
    .map((file) => join(folder, file))
    .filter((file) => !statSync(file, { throwIfNoEntry: false })?.isDirectory());

const isHidden = (file: string): boolean => file.split(sep).some((name) => /^\.|^node_modules$/.test(name));

/** The files of a pattern that no shell has expanded; undefined if the path is none. */
function patternOf(path: string): string[] | undefined {
  const at = path.search(/[*?{[]/);
  if (at < 0) return undefined;
  const slash = path.slice(0, at).lastIndexOf('/');
  const folder = slash < 0 ? '.' : path.slice(0, slash) || '/';
  const whole = patternExpression(path.slice(slash + 1));
  const found = isThere(folder)
    ? filesBelow(folder).filter((file) => whole.test(file.slice(join(folder, '/').length).replaceAll(sep, '/')))
    : [];
  if (found.length === 0) throw new UserError(`${path} matches no file.`);
  return found;
}

/** `**\/` is any number of folders, `*` and `?` are within a name, `{a,b}` is one of several, `[ab]` one character. */
export function patternExpression(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[[^[\]]+\])/).map((part, at) => {
    if (at % 2 === 0) return escaped(part);
    if (part === '**/') return '(?:[^/]+/)*';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.startsWith('[')) return `[${escaped(part.slice(1, -1)).replaceAll('\\-', '-')}]`;
    return `(?:${part.slice(1, -1).split(',').map(escaped).join('|').replaceAll('\\*', '[^/]*')})`;
  });
  return new RegExp(`^${parts.join('')}$`);
}

const escaped = (text: string): string => text.replaceAll(/[-\\^$.*+?()[\]{}|/]/g, '\\$&');

const cannotRead = (path: string, error: unknown): UserError =>
  new UserError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);

export function readGraphqlFile(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}
