// Bundles the program with its dependencies, and other entries without theirs. An up-to-date bundle is not rebuilt.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Bundled with its dependencies: Node need not find and compile 500 files. Other entries leave dependencies to their importer. */
const PROGRAM = 'src/main.ts';
/** What a program imports: the facade, what it extends the graph with, and prices. They have one builder, so that it may import all of them. */
const EMBEDDED = 'src/facade.ts';
const BESIDE_IT = ['src/extend.ts', 'src/price.ts'];
/** Not bundled: packages that are large and rarely used, or that few users need. */
const OUTSIDE = ['entities', 'fast-xml-parser', 'ioredis'];
/**
 * Dependencies in chunks of their own, without source maps. Node loads the source map of a file when the file occurs in a stack trace
 * that it inspects, as when undici closes an idle connection: the map of the whole program takes 20 MB and 200 ms.
 */
const APART = ['undici', 'graphql', '@pothos/core', 'commander', 'pino'];
const NO_MAP = JSON.stringify({ version: 3, sources: [], names: [], mappings: '' });
/** Inputs of the bundle besides its sources: the build settings, and the versions that npm has installed. */
const SETTINGS = ['build.mjs', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json'];

/**
 * The flags of Node that the program is started with everywhere, as `npm start` has them. Two of them keep short-lived objects out of V8's
 * old generation, which is expensive to collect (docs/speed.md): the young generation is twice the default size, and no object is
 * allocated in the old one at once.
 */
export const nodeFlags = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  .scripts.start.split(' ')
  .filter((word) => word.startsWith('--'));

/** Bundles an entry into dist, with chunks for what is loaded on demand. */
export async function bundle(entry = PROGRAM, onBuild = () => undefined) {
  if (!existsSync(root + entry)) return; // npm ci may run before the sources exist, as in a container layer
  const name = basename(entry, '.ts');
  await makeOnce(
    name,
    () => onBuild(entry),
    () => bundleEntry(entry, name),
  );
}

async function bundleEntry(entry, name) {
  const { build } = await import('esbuild'); // a development dependency
  const isProgram = entry === PROGRAM;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entry === EMBEDDED ? [entry, ...BESIDE_IT] : [entry],
    outdir: 'dist',
    splitting: true,
    chunkNames: `${name}-[name]-[hash]`,
    metafile: true,
    bundle: true,
    ...(isProgram ? WITH_DEPENDENCIES : { plugins: [outside(dirname(entry))] }),
    mainFields: ['module', 'main'], // the same copy of a package for import and require
    preserveSymlinks: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false, // stack traces need only files and lines, and maps stay in memory
    banner: { js: `#!/usr/bin/env -S node ${nodeFlags.join(' ')}${isProgram ? REQUIRE : ''}` },
    logLevel: 'warning',
  });
  if (isProgram) tidy(metafile.outputs);
  const made = Object.keys(metafile.outputs);
  if (isProgram) made.push(writeLicenses(`dist/${name}.licenses.txt`, Object.keys(metafile.inputs)));
  for (const file of readdirSync(`${root}dist`))
    if (file.startsWith(`${name}-`) && !made.includes(`dist/${file}`)) rmSync(`${root}dist/${file}`, { force: true });
  return { taken: Object.keys(metafile.inputs), made };
}

/** Makes the files of the GraphiQL page in dist/graphiql. */
export async function publishGraphiql(onBuild = () => undefined) {
  if (!existsSync(`${root}graphiql`)) return;
  await makeOnce(
    'graphiql',
    () => onBuild('GraphiQL'),
    async () => {
      const { buildGraphiql } = await import('./graphiql/build.mjs');
      return buildGraphiql(root);
    },
  );
}

/** Makes the pages of /docs in dist/docs. */
export async function publishDocs(onBuild = () => undefined) {
  if (!existsSync(`${root}docs/build.mjs`)) return;
  await makeOnce(
    'docs',
    () => onBuild('docs'),
    async () => {
      const { buildDocs } = await import('./docs/build.mjs');
      return buildDocs(root);
    },
  );
}

/** All that the program needs to start. */
export async function buildProgram() {
  await bundle();
  await publishGraphiql();
  await publishDocs();
}

/** Makes outputs unless they and their inputs are those of a record. `make` returns the paths of both, relative to the root. */
async function makeOnce(name, onMake, make) {
  const record = `dist/${name}.built.json`;
  if (isBuilt(record)) return;
  onMake();
  const begun = Date.now();
  rmSync(root + record, { force: true });
  const { taken, made } = await make();
  const inputs = [...taken, ...SETTINGS];
  // If an input changed meanwhile, the output may contain its old content: record nothing, so that the next start builds again.
  if (inputs.some((path) => statOf(path)?.ctimeMs > begun - CLOCK_MS)) return;
  const states = [...inputs, ...made].map((path) => [path, stateOf(path), contentOf(path)]);
  mkdirSync(root + 'dist', { recursive: true });
  writeFileSync(root + record, JSON.stringify(states));
}

/** Timestamps of files lag behind the clock by a tick of the kernel. */
const CLOCK_MS = 20;
const statOf = (path) => statSync(root + path, { throwIfNoEntry: false });

/** By ctime: unlike mtime, neither a checkout nor a copy sets it back. */
function stateOf(path) {
  const stat = statOf(path);
  return stat ? `${stat.ctimeMs} ${stat.size}` : 'not there';
}

/** A digest of a file, or of the names in a folder. */
function contentOf(path) {
  const stat = statOf(path);
  if (!stat) return 'not there';
  const content = stat.isDirectory() ? readdirSync(root + path).join() : readFileSync(root + path);
  return createHash('sha256').update(content).digest('base64');
}

/** Whether all inputs and outputs have the content that the record names. Only a file that was written since is read. */
function isBuilt(record) {
  try {
    const states = JSON.parse(readFileSync(root + record, 'utf8'));
    const written = states.filter(([path, state]) => stateOf(path) !== state);
    if (written.some(([path, , content]) => contentOf(path) !== content)) return false;
    if (written.length === 0) return true;
    for (const each of written) each[1] = stateOf(each[0]);
    writeFileSync(root + record, JSON.stringify(states));
    return true;
  } catch {
    return false; // missing or truncated
  }
}

const REQUIRE = `\nimport { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);`;
const graphqlAndUndici = {
  name: 'graphql and undici',
  setup({ onLoad, onResolve }) {
    // The ESM files, which all other imports get.
    onResolve({ filter: /^graphql\/.*\.js$/ }, ({ path }) => ({
      path: `${root}node_modules/${path.replace(/js$/, 'mjs')}`,
    }));
    // The index of undici would load fetch, WebSocket, caches and mocks, which Node has built in.
    // A proxy is asked for a tunnel by `connect`, and the doctor reads by `request`, which that index gives all dispatchers.
    onLoad({ filter: /\/node_modules\/undici\/index\.js$/ }, () => ({
      contents: `import Dispatcher from './lib/dispatcher/dispatcher.js'; import connect from './lib/api/api-connect.js'; import request from './lib/api/api-request.js'; Object.assign(Dispatcher.prototype, { connect, request }); export { default as Pool } from './lib/dispatcher/pool.js'; export { default as ProxyAgent } from './lib/dispatcher/proxy-agent.js'; export { default as errors } from './lib/core/errors.js';`,
      resolveDir: `${root}node_modules/undici`,
    }));
  },
};

/** Leaves packages out of a bundle. Those installed beside the entry are referenced by their path, because dist cannot resolve them. */
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
  // A second entry for the chunks that it shares with the program; the entry itself is deleted.
  stdin: { contents: APART.map((name) => `export * from '${name}';`).join('\n'), resolveDir: root },
};

/** Deletes the second entry, and empties the maps of chunks without own sources. */
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

/** The bundle contains copies of packages, whose licenses must be included. */
function writeLicenses(file, inputs) {
  const packages = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const texts = [...packages].sort().map((place) => {
    const { name, version, license, author } = JSON.parse(readFileSync(`${root}${place}/package.json`, 'utf8'));
    const notices = readdirSync(root + place).filter((each) => /^(licen[cs]e|notice|copying)/i.test(each));
    const texts = notices.map((each) => readFileSync(`${root}${place}/${each}`, 'utf8').trim());
    return `${[`${name} ${version}`, ...(texts.length > 0 ? texts : [`${license}, by ${author?.name ?? author}`])].join('\n\n')}\n`;
  });
  writeFileSync(root + file, texts.join(`\n${'-'.repeat(80)}\n\n`));
  return file;
}

/** Makes what front ends import from this package: the documents, for any runtime, and their types. */
export async function publishOperations() {
  const source = 'generated/operations.ts';
  if (!existsSync(root + source)) return;
  await makeOnce(
    'operations',
    () => undefined,
    async () => {
      return { taken: [source], made: await publishModule(source, 'dist/operations') };
    },
  );
}

/** What clients take out of a document, which the ESLint plugin needs. */
const SENT = 'src/config/documents/client-directives.ts';
/** Makes client/dist, the package of front ends: the documents, and each file of client/src. */
export const publishClient = () => makeOnce('client', () => undefined, makeClient);

async function makeClient() {
  rmSync(`${root}client/dist`, { recursive: true, force: true });
  const rewrite = (text) =>
    text
      .replace("'@graphql-typed-document-node/core'", "'./typed-document.js'")
      .replace("'../../generated/operations.ts'", "'./index.js'")
      .replace("'./price.ts'", "'./price.cjs'")
      .replace(`'../../${SENT}'`, "'./client-directives.js'")
      .replace(/'(\.\/\S+)\.ts'/g, "'$1.js'");
  const modules = readdirSync(`${root}client/src`).map((file) => [`client/src/${file}`, basename(file, '.ts')]);
  const sources = [['generated/operations.ts', 'index'], [SENT, 'client-directives'], ...modules];
  const made = [PRICE_LICENSES];
  for (const [source, name] of sources)
    made.push(...(await publishModule(source, `client/dist/${name}`, rewrite, { commonJs: true })));
  const inPrice = await publishPrice();
  // Tools that read no `exports`, as Metro before 0.82 and TypeScript with "moduleResolution": "node", find an entry by its folder.
  const { exports } = JSON.parse(readFileSync(`${root}client/package.json`, 'utf8'));
  for (const entry of Object.keys(exports).filter((path) => /^\.\/\w+$/.test(path))) {
    const name = basename(entry);
    mkdirSync(`${root}client/${name}`, { recursive: true });
    const { type, extension } = exports[entry].import
      ? { type: 'module', extension: 'js' }
      : { type: 'commonjs', extension: 'cjs' };
    const types = `../dist/${name}.d.${extension.replace('js', 'ts')}`;
    const stub = { type, main: `../dist/${name}.${extension}`, types, sideEffects: false };
    writeFileSync(`${root}client/${name}/package.json`, `${JSON.stringify(stub)}\n`);
    made.push(`client/${name}/package.json`);
  }
  for (const file of ['schema.graphql', 'LICENSE']) {
    copyFileSync(root + file, `${root}client/${file}`);
    made.push(`client/${file}`);
  }
  const taken = [
    ...sources.map(([source]) => source),
    ...inPrice,
    'client/src',
    'client/package.json',
    'schema.graphql',
  ];
  return { taken: [...taken, 'LICENSE'], made: made.filter((path) => existsSync(root + path)) };
}

const PRICE_LICENSES = 'client/dist/price.licenses.txt';

/** Makes the price in one file, with the code of the server that it needs: a CommonJS module, which both kinds of programs import. */
async function publishPrice() {
  const [{ build }, { default: ts }] = await Promise.all([import('esbuild'), import('typescript')]);
  for (const file of ['price.js', 'price.d.ts']) rmSync(`${root}client/dist/${file}`);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['client/src/price.ts'],
    outfile: 'client/dist/price.cjs',
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    define: { 'import.meta.url': 'hereUrl' },
    banner: { js: "const hereUrl=require('node:url').pathToFileURL(__filename).href;" },
    plugins: [onlyForPrices(ts)],
  });
  const taken = Object.keys(metafile.inputs).filter((path) => !path.includes(':'));
  writeLicenses(PRICE_LICENSES, taken);
  return taken;
}

/** Leaves out what no price needs: the reader of uploads, and the texts of descriptions, which tools read in the schema. */
const onlyForPrices = (ts) => ({
  name: 'only for prices',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^graphql$/ }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /^graphql-upload-minimal$/ }, ({ path }) => ({ path, namespace: 'uploads' }));
    onLoad({ filter: /.*/, namespace: 'uploads' }, () => ({ contents: 'export class Upload {}' }));
    onLoad({ filter: /\/src\/(?:graph\/.*|engine\/errors\/codes)\.ts$/ }, ({ path }) => ({
      contents: withoutTexts(ts, path),
      loader: 'ts',
    }));
  },
});

/** Members of objects that document something, and sentences in other places. */
const TEXTS = new Set(['description', 'deprecationReason', 'what', 'client', 'operator']);
const SENTENCE = /^.[A-Z][^]* [^]*\.(?:'|`|")$/;

/** The source with empty texts in the place of documentation. */
function withoutTexts(ts, path) {
  let text = readFileSync(path, 'utf8');
  const places = [];
  const isText = (node) =>
    ts.isStringLiteralLike(node) ||
    ts.isTemplateExpression(node) ||
    (ts.isBinaryExpression(node) && isText(node.left) && isText(node.right));
  const visit = (node) => {
    const { parent } = node;
    const isTold =
      parent && ts.isPropertyAssignment(parent) && parent.initializer === node && TEXTS.has(parent.name.getText());
    if (isText(node) && (isTold || SENTENCE.test(node.getText()))) places.push([node.getStart(), node.getEnd()]);
    else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  for (const [start, end] of places.reverse()) text = `${text.slice(0, start)}''${text.slice(end)}`;
  return text;
}

/** Makes a source JavaScript and declarations, for programs of CommonJS too if asked. Returns the paths of these. */
async function publishModule(source, output, rewrite = (text) => text, { commonJs = false } = {}) {
  const text = rewrite(readFileSync(root + source, 'utf8'));
  const [{ transform }, { default: ts }] = await Promise.all([import('esbuild'), import('typescript')]);
  const { outputText } = ts.transpileDeclaration(text, { fileName: source, compilerOptions: { target: 'es2022' } });
  mkdirSync(dirname(root + output), { recursive: true });
  // A front end may do without the package graphql, and check its libraries: a type of it is then `any`.
  const types = outputText.replace(/^import type .* from ["']graphql["'];$/m, '// @ts-ignore: it is optional\n$&');
  const formats = commonJs ? { esm: ['js', 'd.ts'], cjs: ['cjs', 'd.cts'] } : { esm: ['js', 'd.ts'] };
  const made = [];
  for (const [format, [script, declarations]] of Object.entries(formats)) {
    made.push(`${output}.${script}`, `${output}.${declarations}`);
    const named = (content) => content.replace(/(["'])(\.\/\S+)\.js\1/g, `$1$2.${script}$1`);
    const { code } = await transform(text, {
      loader: 'ts',
      target: 'es2022',
      format,
      minifyWhitespace: format === 'cjs',
    });
    writeFileSync(`${root}${output}.${script}`, named(code));
    writeFileSync(`${root}${output}.${declarations}`, named(types));
  }
  return made;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const entries = process.argv.slice(2);
  // One line on what takes seconds the first time, extended by each step; nothing if all is up to date.
  const begun = Date.now();
  let isNew = false;
  const onBuild = (what) => {
    process.stderr.write(isNew ? `, ${what}` : `building (only after a change): ${what}`);
    isNew = true;
  };
  await Promise.all(
    entries.length > 0
      ? entries.map((entry) => (entry === 'client' ? publishClient() : bundle(entry, onBuild)))
      : [bundle(PROGRAM, onBuild), bundle(EMBEDDED, onBuild), publishOperations()],
  );
  if (entries.length === 0 || entries.includes(PROGRAM))
    await Promise.all([publishGraphiql(onBuild), publishDocs(onBuild)]);
  if (isNew)
    process.stderr.write(`: ${((Date.now() - begun) / 1000).toFixed(1)} s
`);
}
