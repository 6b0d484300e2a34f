/** Reads what is checked: operations of GraphQL files and folders, and of manifests of trusted documents, each with its location. */
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { type ASTNode, type DocumentNode, type GraphQLError, Kind, getLocation, parse, print } from 'graphql';
import { filesBelow } from '../config/documents/graphql-files.ts';
import { findOperations } from '../config/documents/operation-files.ts';
import { readManifest } from '../config/documents/trusted-documents.ts';
import { readTextFile } from '../lib/text/read-text.ts';
import type { Finding, FileLocation } from './finding.ts';
import { UserError } from '../lib/user-error.ts';

export interface CheckedOperation {
  /** Its name; of one without, the id of its document, or its file. */
  name: string;
  operationName: string | undefined;
  /** The text that a client sends. */
  text: string;
  document: DocumentNode;
  isFromManifest: boolean;
  location: FileLocation;
  locationOf: (node: ASTNode | undefined) => FileLocation;
}

interface ReadDocuments {
  operations: CheckedOperation[];
  /** What is wrong with files that cannot be parsed, as GraphQL or as a manifest. */
  findings: Finding[];
}

const SOURCES = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.vue', '.svelte']);

export const IN_SOURCES =
  'documents in program sources are not read. Have the tool of your client write a manifest of them, and name that.';

/** An operation in a text that is marked as GraphQL: `gql` or `graphql`, as a tag or a function, or the comment that editors read. */
const IN_SOURCE = /(?:\bg(?:raph)?ql\b|\bGraphQL \*\/)[\s(]*`\s*(?:query|mutation|\{)/;

/** A file that ends in `.json` is a manifest. Throws a UserError for what cannot be read, or is of another kind. */
export function readDocuments(manifests: readonly string[], paths: readonly string[]): ReadDocuments {
  for (const path of [...manifests, ...paths]) checkPath(path);
  const isManifest = (path: string) => extname(path) === '.json' && !isFolder(path);
  const findings: Finding[] = [];
  const graphql = operationsOf(
    paths.filter((path) => !isManifest(path)),
    findings,
  );
  const trusted = [...manifests, ...paths.filter(isManifest)].flatMap((path) => operationsOfManifest(path, findings));
  return { operations: [...graphql, ...trusted], findings };
}

/** The program sources below the paths that have operations. A manifest is taken to have them: the tool that wrote it reads sources. */
export const unreadSources = (paths: readonly string[]): Finding[] =>
  [...new Set(paths.filter(isFolder).flatMap(filesBelow))].flatMap((file): Finding[] => {
    const source = SOURCES.has(extname(file)) ? readTextFile(file) : '';
    const at = source.search(IN_SOURCE);
    if (at === -1) return [];
    const location = { file, line: source.slice(0, at).split('\n').length };
    return [{ severity: 'error', code: 'DOCUMENT_NOT_READ', message: `Not read: ${IN_SOURCES}`, location }];
  });

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function checkPath(path: string): void {
  if (SOURCES.has(extname(path)) && !isFolder(path)) throw new UserError(`${path}: ${IN_SOURCES}`);
}

function operationsOf(paths: readonly string[], findings: Finding[]): CheckedOperation[] {
  const onError = (file: string, error: GraphQLError) => {
    const [{ line } = { line: 1 }] = error.locations ?? [];
    const { code = 'GRAPHQL_PARSE_FAILED' } = error.extensions as { code?: string };
    findings.push({ severity: 'error', code, message: error.message, location: { file, line } });
  };
  return findOperations(paths, onError).map(({ path, document, operation }) => {
    const locationOf = (node: ASTNode | undefined): FileLocation => {
      const { source, start } = node?.loc ?? operation.loc!;
      return { file: source.name, line: getLocation(source, start).line };
    };
    const operationName = operation.name?.value;
    const location = locationOf(operation);
    const name = operationName ?? path;
    return { name, operationName, text: print(document), document, isFromManifest: false, location, locationOf };
  });
}

function operationsOfManifest(file: string, findings: Finding[]): CheckedOperation[] {
  const lines = linesOfStrings(readTextFile(file));
  let documents: ReadonlyMap<string, string>;
  try {
    documents = readManifest(file);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const message = `The server does not accept this manifest: ${error.message}.`;
    findings.push({ severity: 'error', code: 'BAD_MANIFEST', message, location: { file, line: 1 } });
    return [];
  }
  return [...documents].flatMap(([id, text]) => {
    const document = parse(text);
    const location = { file, line: lines.get(id) ?? lines.get(`sha256:${id}`) ?? 1 };
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const names = operations.length === 0 ? [undefined] : operations.map(({ name }) => name?.value);
    return names.map((operationName) => {
      const name = operationName ?? id;
      return { name, operationName, text, document, isFromManifest: true, location, locationOf: () => location };
    });
  });
}

/** The line of the first occurrence of each short string of a JSON text. */
function linesOfStrings(json: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [at, line] of json.split('\n').entries())
    for (const [, text] of line.matchAll(/"([^"\\]{1,200})"/g)) if (!found.has(text!)) found.set(text!, at + 1);
  return found;
}
