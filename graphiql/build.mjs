// Makes dist/graphiql: the files of the GraphiQL page, named by their content and compressed, and the licenses of what they contain.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

/** Level 11 saves a tenth and takes twenty times as long. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 } };

/** Returns what went in and what came out, relative to the root. */
export async function buildGraphiql(root) {
  const [{ build, transform }, graphiql] = await Promise.all([
    import('esbuild'),
    import('@graphql-yoga/render-graphiql/graphiql'),
  ]);
  const page = await build({
    absWorkingDir: `${root}graphiql`,
    entryPoints: ['page.js', 'page.css'],
    outdir: '.',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    logLevel: 'warning',
  });
  const ours = (name) => page.outputFiles.find(({ path }) => path.endsWith(name)).text;
  const minified = async (code) => (await transform(code, { minify: true })).code;
  const texts = {
    'page.js': ours('page.js'),
    'page.css': ours('page.css'),
    'graphiql.js': graphiql.js,
    'graphiql.css': graphiql.css,
    'worker-editor.js': await minified(graphiql.editorWorkerService),
    'worker-json.js': await minified(graphiql.jsonWorker),
    'worker-graphql.js': await minified(graphiql.graphqlWorker),
  };
  const folder = 'dist/graphiql';
  rmSync(root + folder, { recursive: true, force: true });
  mkdirSync(root + folder, { recursive: true });
  const names = {};
  const licenses = 'graphiql/licenses.txt';
  copyFileSync(root + licenses, `${root}dist/${licenses}`);
  const made = [`${folder}/files.json`, `dist/${licenses}`];
  await Promise.all(
    Object.entries(texts).map(async ([name, text]) => {
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
      const hashed = (names[name] = name.replace('.', `-${hash}.`));
      writeFileSync(`${root}${folder}/${hashed}.br`, await promisify(brotliCompress)(text, brotli));
      made.push(`${folder}/${hashed}.br`);
    }),
  );
  writeFileSync(`${root}${folder}/files.json`, `${JSON.stringify(names, null, 2)}\n`);
  const taken = [
    'graphiql/build.mjs',
    licenses,
    ...Object.keys(page.metafile.inputs).map((file) => `graphiql/${file}`),
  ];
  return { taken, made };
}
