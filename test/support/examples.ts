import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { made } from './made.ts';

// The examples import it.
await made('client');

/** The TypeScript examples of a page of the documentation. */
export const tsExamplesOf = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code]) => code!);

/** Files of packages and of the library, which every program has. The options are always the same. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** The errors of the compiler for examples, each a module of its own in `folder`, whose packages they import. */
export function compileProblems(folder: string, examples: readonly string[]): string[] {
  const texts = new Map(examples.map((code, at) => [join(process.cwd(), folder, `example${at}.ts`), code]));
  const options: ts.CompilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    paths: {
      'catalog-graphql': ['./facade.d.ts'],
      'catalog-graphql/extend': ['./extend.d.ts'],
      'catalog-graphql-client/*': ['./client/dist/*.d.ts'],
    },
    baseUrl: process.cwd(),
  };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (file) => texts.has(file) || disk.fileExists(file),
    readFile: (file) => texts.get(file) ?? disk.readFile(file),
    getSourceFile: (file, target, ...rest) => {
      const text = texts.get(file);
      if (text !== undefined) return ts.createSourceFile(file, text, target);
      if (!parsed.has(file)) parsed.set(file, disk.getSourceFile(file, target, ...rest));
      return parsed.get(file);
    },
  };
  return ts.getPreEmitDiagnostics(ts.createProgram([...texts.keys()], options, host)).map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
