/**
 * Checks the structure of `src`: files do not import each other in a circle (imports of types count), an exported name is defined in one
 * file only, a program reaches each file, and folders, files and functions are small enough to be read. `engine`, `upstream` and `server`
 * know no table of the service: a program hands them its descriptor.
 */
import { basename, dirname } from 'node:path';
import ts from 'typescript';
import { files, importsIn, sourceOf, sources } from './imports.mjs';

/** The programs of the package, and those that generate its files. A file that only tests import is reached by none. */
const PROGRAMS = ['src/main.ts', 'src/facade.ts', 'src/extend.ts', 'src/price.ts', 'codegen.ts'];
/** Files of `src/api` that speak of no service. Every other one is of the catalog. */
const GENERIC = ['endpoint.ts', 'api-request.ts', 'record-source.ts', 'service-descriptor.ts'];
const GENERIC_ROOMS = ['src/engine/', 'src/upstream/', 'src/server/'];
/** It makes the server of the catalog, of its schema and its descriptor. */
const COMPOSITION = 'src/server/core.ts';
const FILE_LINES = 300;
const FUNCTION_LINES = 80;
const FOLDER_FILES = 13;
/** Tables are looked up, not read through. */
const TABLES = new Set([
  'src/engine/errors/codes.ts', // every code that clients may get
]);

const imports = new Map([...sources].map(([file, source]) => [file, importsIn(source)]));

const domain = domainImports();
const problems = [
  ...circles().map((circle) => `These files import each other in a circle: ${circle.join(', ')}`),
  ...duplicates().map(([name, places]) => `${name} is exported by several files: ${places.join(', ')}`),
  ...unreached().map((file) => `${file} is reached by no program: delete it, or import it`),
  ...files.flatMap(longParts),
  ...domain.map(
    ([file, target]) => `${file} imports ${target}, a table of the catalog: take it from the descriptor of the service`,
  ),
  ...largeFolders().map(([folder, size]) => `${folder} has ${size} files: at most ${FOLDER_FILES} can be looked over`),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`Imports of the catalog's tables by engine, upstream and server: ${domain.length}`);

function isTable(file) {
  return dirname(file) === 'src/api' && !GENERIC.includes(basename(file));
}

function domainImports() {
  return files
    .filter((file) => GENERIC_ROOMS.some((room) => file.startsWith(room)))
    .flatMap((file) => imports.get(file).map((target) => [file, target]))
    .filter(([file, target]) => isTable(target) || (target.startsWith('src/graph/') && file !== COMPOSITION));
}

function largeFolders() {
  const sizes = new Map();
  for (const folder of files.map(dirname)) sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  return [...sizes].filter(([, size]) => size > FOLDER_FILES);
}

/** Strongly connected components of more than one file, by Tarjan's algorithm. */
function circles() {
  const index = new Map();
  const lowest = new Map();
  const stack = [];
  const found = [];
  const visit = (file) => {
    index.set(file, index.size);
    lowest.set(file, index.get(file));
    stack.push(file);
    for (const target of imports.get(file)) {
      if (!index.has(target)) {
        visit(target);
        lowest.set(file, Math.min(lowest.get(file), lowest.get(target)));
      } else if (stack.includes(target)) lowest.set(file, Math.min(lowest.get(file), index.get(target)));
    }
    if (lowest.get(file) !== index.get(file)) return;
    const component = stack.splice(stack.indexOf(file));
    if (component.length > 1) found.push(component);
  };
  for (const file of files) if (!index.has(file)) visit(file);
  return found;
}

function unreached() {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const target of imports.get(file)) visit(target);
  };
  for (const program of PROGRAMS) {
    if (files.includes(program)) visit(program);
    else importsIn(sourceOf(program)).forEach(visit);
  }
  return files.filter((file) => !reached.has(file));
}

function duplicates() {
  const places = new Map();
  for (const file of files)
    for (const name of new Set(definitionsOf(file))) places.set(name, [...(places.get(name) ?? []), file]);
  return [...places].filter(([, definedIn]) => definedIn.length > 1);
}

/** Names that the file defines and exports; re-exports are not definitions. */
function definitionsOf(file) {
  return sources.get(file).statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(namesIn);
    return statement.name ? [statement.name.text] : [];
  });
}

function namesIn({ name }) {
  return ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (element.name ? namesIn(element) : []));
}

/** Problems of a file that is too long, or has functions that are. */
function longParts(file) {
  const source = sources.get(file);
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const found = [];
  const lines = lineAt(source.end) - 1;
  if (lines > FILE_LINES && !TABLES.has(file)) found.push(`${file} has ${lines} lines; ${FILE_LINES} at most`);
  if (lines <= FILE_LINES && TABLES.has(file)) found.push(`${file} is short: it needs no exception in structure.mjs`);
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const start = lineAt(node.getStart(source));
      const length = lineAt(node.end) - start + 1;
      if (length > FUNCTION_LINES)
        found.push(`${file}:${start}: a function of ${length} lines; ${FUNCTION_LINES} at most`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
