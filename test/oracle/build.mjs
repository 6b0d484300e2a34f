// Bundles the oracle with the sources; packages stay external.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * Limits the size of every LRUCache. Each case opens a facade, and lru-cache allocates memory for the maximum size: tens of thousands of
 * entries, of which a case uses a dozen.
 */
const smallTables = {
  name: 'small tables',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^lru-cache$/ }, ({ pluginData }) =>
      pluginData === 'inside' ? { path: 'lru-cache', external: true } : { path: 'lru-cache', namespace: 'small' },
    );
    onLoad({ filter: /.*/, namespace: 'small' }, () => ({
      contents: `
        import { LRUCache as Large } from 'lru-cache';
        export class LRUCache extends Large {
          constructor(options) { super(options.max > 200 ? { ...options, max: 200 } : options); }
        }`,
      pluginData: 'inside',
      resolveDir: here,
    }));
  },
};

/** What an embedding program could add is in the schema. */
const extended = {
  name: 'extended schema',
  setup({ onLoad }) {
    onLoad({ filter: /src\/graph\/schema\.ts$/ }, ({ path }) => ({
      contents: `import '../../test/oracle/extension.ts';\n${readFileSync(path, 'utf8')}`,
      loader: 'ts',
    }));
  },
};

const isExtended = process.argv.includes('--extended');
await build({
  absWorkingDir: `${here}../..`,
  entryPoints: ['test/oracle/oracle.ts'],
  outfile: isExtended ? 'dist/oracle-extended.js' : 'dist/oracle.js',
  bundle: true,
  packages: 'external',
  plugins: [smallTables, ...(isExtended ? [extended] : [])],
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
