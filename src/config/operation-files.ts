/** Reads operations from GraphQL files and folders, and checks them against the schema. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import {
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  Source,
  TokenKind,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { oncePer } from '../lib/remember.ts';
import { asSent, relayDirectiveIn } from './client-directives.ts';
import { readTextFile } from '../lib/text/read-text.ts';
import { UserError } from '../lib/user-error.ts';

export interface FileOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

export interface FoundOperation extends FileOperation {
  /** Its file. */
  path: string;
}

/** The operations of GraphQL files and of folders of them. Throws a UserError if one is not valid. */
export function readOperations(paths: readonly string[], schema: GraphQLSchema): FileOperation[] {
  const found = findOperations(paths, (path, { message }) => {
    throw new UserError(`${path}: ${message}`);
  });
  for (const { path, document, operation } of found) {
    const [error] = validate(schema, document);
    if (error) throw new UserError(`${path}: ${operation.name?.value ?? 'an operation'}: ${error.message}`);
  }
  return found;
}

/**
 * The operations of GraphQL files and of folders, not validated, as clients send them. Each has the fragments it needs: those of its own file first, then those of the others.
 */
export function findOperations(
  paths: readonly string[],
  onError: (path: string, error: GraphQLError) => void,
): FoundOperation[] {
  const files = filesOf(paths).flatMap((path) => parsed(path, onError));
  const fragments = new Map<string, Placed[]>();
  for (const [at, { definitions }] of files.entries())
    for (const definition of definitions.filter(isFragment)) {
      const { value: name } = definition.name;
      fragments.set(name, [...(fragments.get(name) ?? []), { at, definition }]);
    }
  return files.flatMap(({ path, definitions }, at) =>
    definitions.filter(isOperation).flatMap((operation) => {
      const needed = fragmentsOf(operation, at, fragments);
      const own = definitions.filter((each) => each === operation || needed.has(each));
      const others = [...needed].filter((each) => !own.includes(each));
      const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [...own, ...others] };
      const relay = relayDirectiveIn(whole);
      if (relay) {
        onError(
          path,
          new GraphQLError(relaySource(relay.name.value), { nodes: relay, extensions: { code: 'RELAY_SOURCE' } }),
        );
        return [];
      }
      const document = asSent(whole);
      return document ? [{ path, operation, document }] : [];
    }),
  );
}

const relaySource = (directive: string): string =>
  `@${directive} is for the compiler of Relay, which sends other documents than its sources: name the file of its persistConfig.`;

/** A fragment, and the number of its file. */
interface Placed {
  at: number;
  definition: FragmentDefinitionNode;
}

/** The fragments that an operation needs, in the order of the files. A name that the file of the operation has is that of no other file. */
function fragmentsOf(
  operation: OperationDefinitionNode,
  file: number,
  fragments: ReadonlyMap<string, readonly Placed[]>,
): ReadonlySet<DefinitionNode> {
  const found = new Set<Placed>();
  const add = (node: DefinitionNode): void => {
    for (const name of spreadsIn(node)) {
      const all = fragments.get(name) ?? [];
      const own = all.filter(({ at }) => at === file);
      for (const each of own.length > 0 ? own : withoutCopies(all)) {
        if (found.has(each)) continue;
        found.add(each);
        add(each.definition);
      }
    }
  };
  add(operation);
  return new Set([...found].sort((a, b) => a.at - b.at || offsetOf(a) - offsetOf(b)).map((each) => each.definition));
}

/** Equal fragments of several files are one. */
const withoutCopies = (placed: readonly Placed[]): Placed[] =>
  placed.length < 2
    ? [...placed]
    : [...new Map(placed.toReversed().map((each) => [print(each.definition), each])).values()].toReversed();

const offsetOf = ({ definition: { loc } }: Placed): number => loc?.start ?? 0;

const spreadsIn = oncePer((definition: DefinitionNode): string[] => {
  const names: string[] = [];
  visit(definition, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
});

const isOperation = (node: DefinitionNode): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION;
const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;

function parsed(path: string, onError: (path: string, error: GraphQLError) => void) {
  try {
    const source = new Source(textOf(path), path);
    // A file that is empty, or has comments only.
    if (new Lexer(source).advance().kind === TokenKind.EOF) return [];
    return [{ path, definitions: parse(source).definitions }];
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    onError(path, error);
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** The GraphQL files of all paths, each once, however many paths and links lead to it. */
function filesOf(paths: readonly string[]): string[] {
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
const filesBelow = (folder: string): string[] =>
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
function patternExpression(pattern: string): RegExp {
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
