/** Fragments of other files of a project, by their names. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Kind, parse } from 'graphql';
import { GAP } from './graphql-sources.ts';

const FILES = /\.(?:graphql|gql|[cm]?[jt]sx?)$/;
/** An expression in a template, with one level of braces of its own. */
const EXPRESSIONS = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;
/** How long the list of files is taken for true: an editor checks at every key. */
const LIST_MS = 2_000;

const lists = new Map<string, { at: number; files: string[] }>();
/** By the file and the names of its templates. */
const read = new Map<string, { mtimeMs: number; fragments: Map<string, string> }>();

/** The texts of the fragments of a document. */
export function fragmentsIn(text: string): Map<string, string> {
  try {
    const all = parse(text).definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION
        ? [[each.name.value, text.slice(each.loc!.start, each.loc!.end)] as const]
        : [],
    );
    return new Map(all);
  } catch {
    return new Map(); // not a document, or one that is being written
  }
}

/** Looks a fragment up in files, and in those below folders, relative to `cwd`; `tags` are the names of templates with documents. */
export function findFragment(
  name: string,
  places: readonly string[],
  cwd: string,
  tags: readonly string[],
): string | undefined {
  const templates = templatesOf(tags);
  for (const place of places)
    for (const file of filesBelow(resolve(cwd, place))) {
      const found = fragmentsOfFile(file, templates).get(name);
      if (found !== undefined) return found;
    }
  return undefined;
}

/** Templates and arguments with these names, with or without a parameter of their type, and those with the comment `GraphQL`. */
function templatesOf(tags: readonly string[]): RegExp {
  const names = tags.map((tag) => tag.replaceAll('$', '\\$')).join('|');
  const tagged = `(?<![\\w$.])(?:${names})\\s*(?:<[^<>();]*>)?\\s*(?:\\(\\s*)?`;
  return new RegExp(`(?:${tagged}|/\\*\\s*GraphQL\\s*\\*/\\s*)\`((?:[^\`\\\\]|\\\\.)*)\``, 'gs');
}

function filesBelow(place: string): string[] {
  const known = lists.get(place);
  if (known && Date.now() - known.at < LIST_MS) return known.files;
  const files = existsSync(place) ? listOf(place) : [];
  lists.set(place, { at: Date.now(), files });
  return files;
}

function listOf(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const path = join(place, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') || entry.name === 'node_modules' ? [] : listOf(path);
    return FILES.test(entry.name) ? [path] : [];
  });
}

function fragmentsOfFile(file: string, templates: RegExp): Map<string, string> {
  const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (mtimeMs === undefined) return new Map();
  const key = `${templates.source} ${file}`;
  const known = read.get(key);
  if (known?.mtimeMs === mtimeMs) return known.fragments;
  const text = readFileSync(file, 'utf8');
  const documents = /\.(?:graphql|gql)$/.test(file)
    ? [text]
    : [...text.matchAll(templates)].map(([, template]) => template!.replaceAll(EXPRESSIONS, GAP));
  const fragments = new Map(documents.flatMap((each) => [...fragmentsIn(each)]));
  read.set(key, { mtimeMs, fragments });
  return fragments;
}
