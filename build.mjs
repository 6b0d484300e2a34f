// Bundles the program with what it depends on, and everything else of ours without; what is up to date is not made again.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Its dependencies are in the bundle: 500 files that Node need not find and compile. A module leaves them to whoever imports it. */
const PROGRAM = 'src/main.ts';
/** Beside the bundle all the same: what is large and seldom wanted, what is for a few. */
const OUTSIDE = ['@graphql-yoga/render-graphiql', 'fast-xml-parser', 'ioredis'];
/**
 * Of the dependencies those that are loaded first: they lie in pieces of their own, without maps. A map is read with its file, and
 * unfolded when the file is in any stack that Node looks at, as when undici gives up an idle connection: that of all the program
 * takes 20 MB and a fifth of a second.
 */
const APART = ['undici', 'graphql', '@pothos/core', 'commander', 'pino'];
const NO_MAP = JSON.stringify({ version: 3, sources: [], names: [], mappings: '' });
/** What decides besides the files that went in: how they are bundled, and what npm has put where. */
const SETTINGS = ['build.mjs', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json'];

/** Bundles one entry into dist, what may never be needed into pieces beside it; the tests call it too. */
export async function bundle(entry = PROGRAM) {
  if (!existsSync(root + entry)) return; // installing before the sources are there (a container layer, say) is fine
  const name = basename(entry, '.ts');
  const record = `dist/${name}.built.json`;
  if (isBuilt(record)) return;
  const begun = Date.now();
  rmSync(root + record, { force: true });
  const { build } = await import('esbuild'); // not there where only what runs is installed
  const isProgram = entry === PROGRAM;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: 'dist',
    splitting: true,
    chunkNames: `${name}-[name]-[hash]`,
    metafile: true,
    bundle: true,
    ...(isProgram ? WITH_DEPENDENCIES : { plugins: [outside(dirname(entry))] }),
    mainFields: ['module', 'main'], // the same form of a package, whether it is imported or required
    preserveSymlinks: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false, // a stack names files and lines; the maps stay in memory
    banner: { js: `#!/usr/bin/env -S node --enable-source-maps${isProgram ? REQUIRE : ''}` },
    logLevel: 'warning',
  });
  if (isProgram) tidy(metafile.outputs);
  const made = Object.keys(metafile.outputs);
  if (isProgram) made.push(writeLicenses(`dist/${name}.licenses.txt`, Object.keys(metafile.inputs)));
  for (const file of readdirSync(`${root}dist`))
    if (file.startsWith(`${name}-`) && !made.includes(`dist/${file}`)) rmSync(`${root}dist/${file}`, { force: true });
  const taken = [...Object.keys(metafile.inputs), ...SETTINGS];
  // What changed meanwhile may have gone in as it was: then nothing is recorded, and the next start builds again.
  if (taken.some((path) => statOf(path)?.ctimeMs > begun - CLOCK_MS)) return;
  writeFileSync(root + record, JSON.stringify([...taken, ...made].map((path) => [path, stateOf(path)])));
}

/** Times of files lag behind the clock by a tick of the kernel. */
const CLOCK_MS = 20;
const statOf = (path) => statSync(root + path, { throwIfNoEntry: false });

/** The time of the last change is the system's own: unlike that of writing, neither a checkout nor a copy brings back an older one. */
function stateOf(path) {
  const stat = statOf(path);
  return stat ? `${stat.ctimeMs} ${stat.size}` : 'not there';
}

/** Whether all that went in and all that came out is as it was left. */
function isBuilt(record) {
  try {
    return JSON.parse(readFileSync(root + record, 'utf8')).every(([path, state]) => stateOf(path) === state);
  } catch {
    return false; // none, or one that was cut off
  }
}

const REQUIRE = `\nimport { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);`;
const graphqlAndUndici = {
  name: 'graphql and undici',
  setup({ onLoad, onResolve }) {
    // Of its two forms the one that all others get.
    onResolve({ filter: /^graphql\/.*\.js$/ }, ({ path }) => ({
      path: `${root}node_modules/${path.replace(/js$/, 'mjs')}`,
    }));
    // Its index brings fetch, WebSocket, caches and mocks, and wakes the ones that Node has besides.
    onLoad({ filter: /\/node_modules\/undici\/index\.js$/ }, () => ({
      contents: `export { default as Pool } from './lib/dispatcher/pool.js'; export { default as errors } from './lib/core/errors.js';`,
      resolveDir: `${root}node_modules/undici`,
    }));
  },
};

/** Leaves packages out of a bundle: those that are installed beside the entry are named by their files, which dist has no way to. */
const outside = (folder) => ({
  name: 'outside',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, resolveDir, kind, pluginData }) => {
      if (pluginData === 'outside' || kind === 'entry-point') return undefined;
      if (existsSync(`${root}${folder}/node_modules`) && !path.startsWith('node:')) {
        const found = await resolve(path, { resolveDir, kind, pluginData: 'outside' });
        if (found.path.startsWith(`${root}${folder}/node_modules/`)) return { path: found.path, external: true };
      }
      return { path, external: true };
    });
  },
});

const WITH_DEPENDENCIES = {
  external: OUTSIDE,
  plugins: [graphqlAndUndici],
  // A second entry for the sake of the pieces that it shares with the program; itself it is thrown away.
  stdin: { contents: APART.map((name) => `export * from '${name}';`).join('\n'), resolveDir: root },
};

/** Takes away the second entry, and the maps of pieces that have nothing of ours. */
function tidy(outputs) {
  for (const file of ['dist/stdin.js', 'dist/stdin.js.map']) {
    rmSync(root + file);
    delete outputs[file];
  }
  for (const [file, { inputs }] of Object.entries(outputs)) {
    const isForeign = Object.keys(inputs).every((path) => path.startsWith('node_modules/'));
    if (isForeign && file.endsWith('.js')) writeFileSync(`${root}${file}.map`, NO_MAP);
  }
}

/** The bundle carries copies of others' work, and with them what their licenses ask to be carried along. */
function writeLicenses(file, inputs) {
  const packages = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const texts = [...packages].sort().map((place) => {
    const { name, version, license } = JSON.parse(readFileSync(`${root}${place}/package.json`, 'utf8'));
    const notices = readdirSync(root + place).filter((each) => /^(licen[cs]e|notice|copying)/i.test(each));
    const said = notices.map((each) => readFileSync(`${root}${place}/${each}`, 'utf8').trim());
    return `${[`${name} ${version}`, ...(said.length > 0 ? said : [license])].join('\n\n')}\n`;
  });
  writeFileSync(root + file, texts.join(`\n${'-'.repeat(80)}\n\n`));
  return file;
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
