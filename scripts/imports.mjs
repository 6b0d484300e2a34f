/** The files of `src`, and what each imports of them: read once, for every script that looks at the structure. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Sources by their paths: `src/main.ts`. */
export const sources = new Map(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join('src', file).replaceAll('\\', '/'))
    .sort()
    .map((file) => [file, sourceOf(file)]),
);

export const files = [...sources.keys()];

/** The text of a file of the repository, parsed. */
export function sourceOf(file) {
  return ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
}

/**
 * The files of `src` that a source names: `withTypes`, in imports of types alone, which are not loaded; `whenRun`, in `import()` and in
 * types such as `import('./a.ts').A`.
 */
export function importsIn(source, { withTypes = true, whenRun = true } = {}) {
  const loaded = source.statements.flatMap((statement) => {
    const from = statement.moduleSpecifier?.text;
    return from === undefined || (!withTypes && isOfTypes(statement)) ? [] : [from];
  });
  const all = whenRun ? ts.preProcessFile(source.text).importedFiles.map(({ fileName }) => fileName) : [];
  const targets = [...loaded, ...all]
    .filter((from) => from.startsWith('.'))
    .map((from) => relative(root, resolve(root, dirname(source.fileName), from)).replaceAll('\\', '/'));
  return [...new Set(targets)].filter((target) => sources.has(target));
}

function isOfTypes(statement) {
  const { importClause, exportClause, isTypeOnly } = statement;
  if (isTypeOnly || importClause?.isTypeOnly) return true;
  if (importClause?.name) return false;
  const { elements = [] } = importClause?.namedBindings ?? exportClause ?? {};
  return elements.length > 0 && elements.every((element) => element.isTypeOnly);
}
