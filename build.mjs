// Bundles our own sources into dist; dependencies stay where npm put them.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Bundles one entry into dist, what may never be needed into pieces beside it; the tests call it too. */
export async function bundle(entry = 'src/main.ts') {
  if (!existsSync(root + entry)) return; // installing before the sources are there (a container layer, say) is fine
  const { build } = await import('esbuild'); // not there where only what runs is installed
  const name = basename(entry, '.ts');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: 'dist',
    splitting: true,
    chunkNames: `${name}-[name]-[hash]`,
    metafile: true,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false, // a stack names files and lines; the maps stay in memory
    banner: { js: '#!/usr/bin/env -S node --enable-source-maps' },
    logLevel: 'warning',
  });
  const made = new Set(Object.keys(metafile.outputs));
  for (const file of readdirSync(`${root}dist`))
    if (file.startsWith(`${name}-`) && !made.has(`dist/${file}`)) rmSync(`${root}dist/${file}`, { force: true });
}

/** What front ends import: the documents, which run anywhere, and their types. */
export async function publishOperations() {
  const source = 'src/operations.ts';
  if (!existsSync(root + source)) return;
  const text = readFileSync(root + source, 'utf8');
  const [{ transform }, { default: ts }] = await Promise.all([import('esbuild'), import('typescript')]);
  const { outputText } = ts.transpileDeclaration(text, { fileName: source, compilerOptions: { target: 'es2022' } });
  const { code } = await transform(text, { loader: 'ts', target: 'es2022' });
  mkdirSync(`${root}dist`, { recursive: true });
  writeFileSync(`${root}dist/operations.js`, code);
  writeFileSync(`${root}dist/operations.d.ts`, outputText);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const entries = process.argv.slice(2);
  await Promise.all(
    entries.length > 0
      ? entries.map((entry) => bundle(entry))
      : [bundle(), bundle('src/facade.ts'), publishOperations()],
  );
}
