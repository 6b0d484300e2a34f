import { readdirSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { js, regexp, tseslint } from './lint/plugins.mjs';

/** A library that only the files named may import. */
const libraries = [
  {
    names: ['kysely', 'node:sqlite', '@photostructure/sqlite'],
    home: ['src/origin/store/**'],
    message: 'Only origin/store speaks SQL.',
  },
  {
    names: ['undici', 'undici/index.js'],
    home: ['dispatcher.ts', 'pool.ts', 'attempts.ts', 'transport-errors.ts'].map((file) => `src/upstream/http/${file}`),
    message: 'Only dispatcher.ts, pool.ts, attempts.ts and transport-errors.ts of upstream/http use undici.',
  },
  {
    names: ['fast-xml-parser'],
    home: ['src/atom/mend.ts'],
    message: 'Only atom/mend.ts checks XML by a library.',
  },
  {
    names: ['@graphql-inspector/core'],
    home: ['src/check/lost.ts'],
    message: 'Only check/lost.ts compares schemas.',
  },
  {
    names: ['dataloader'],
    home: ['src/upstream/loading/**'],
    message: 'Only upstream/loading batches loads.',
  },
  {
    names: ['prom-client'],
    home: ['src/server/observability/metrics.ts'],
    message: 'Only metrics.ts of server/observability declares metrics.',
  },
];

/** The rooms of each layer, and from which others of the same layer each may import. A file beside them is a room of its own. */
const engine = {
  errors: [],
  values: ['errors'],
  plan: ['errors', 'values'],
  requirements: ['errors', 'plan'],
  settle: [],
  'context.ts': ['plan'],
  'builder.ts': ['values', 'plan', 'context.ts'],
  execute: ['errors', 'values', 'plan', 'context.ts'],
  fields: ['errors', 'values', 'plan', 'settle', 'context.ts', 'builder.ts'],
  'node-query.ts': ['errors', 'plan', 'fields', 'builder.ts'],
  cost: ['values', 'plan', 'execute', 'node-query.ts'],
  'null-conditions.ts': ['values', 'plan', 'requirements', 'cost'],
  'descriptions.ts': ['plan', 'cost'],
  documents: ['errors', 'plan', 'requirements', 'execute', 'cost', 'context.ts'],
};
const domains = ['book', 'note', 'film', 'event', 'service'];
const graph = { types: [], ...Object.fromEntries(domains.map((domain) => [domain, ['types', ...domains]])) };
const upstream = {
  'errors.ts': [],
  'availability.ts': [],
  'call-log.ts': ['errors.ts'],
  'write-guard.ts': ['http'],
  auth: ['errors.ts', 'call-log.ts', 'write-guard.ts'],
  cache: ['errors.ts', 'auth'],
  limits: ['errors.ts', 'auth'],
  http: ['errors.ts', 'availability.ts', 'call-log.ts', 'auth', 'cache', 'limits'],
  loading: ['errors.ts', 'auth', 'cache', 'http'],
  redis: ['availability.ts', 'cache', 'http', 'limits'],
  'upstream-session.ts': ['errors.ts', 'call-log.ts', 'write-guard.ts', 'auth', 'cache', 'limits', 'http', 'loading'],
};
/** The core, which knows no feature. */
const server = { observability: ['http'], graphql: ['http', 'observability'] };
const features = readdirSync(new URL('src/server/features', import.meta.url), { withFileTypes: true }).flatMap(
  (entry) => (entry.isDirectory() ? entry.name : []),
);

/** `parent`: the folder of the rooms. `outside`: the layers that none of them may import from. */
const walls = (parent, rooms, outside, more = {}) =>
  Object.entries(rooms).map(([room, open]) => ({
    layer: room.endsWith('.ts') ? `src/${parent}/${room}` : `src/${parent}/${room}/**`,
    closed: [
      ...outside,
      ...Object.keys(rooms).flatMap((other) =>
        other === room || open.includes(other) ? [] : [`${parent.split('/').at(-1)}/${other}`],
      ),
    ],
    ...more,
  }));

/** The rooms of `server/http`; `exchange.ts` is beside them. They know nothing of GraphQL requests. */
const closedToHttp = ['commands', 'doctor', 'origin', 'server/graphql', 'server/features'];
const openOfHttp = { response: [], request: ['response'], connections: ['response', 'request'] };

/**
 * What a layer may not import from another: imports may skip a layer and never go against the arrows of docs/architecture.md. From
 * `typesOf` only types may be imported.
 */
const outer = [
  'config',
  'cli',
  'commands',
  'doctor',
  'inspect',
  'server',
  'origin',
  'graph',
  'engine',
  'upstream',
  'atom',
  'api',
];
const aboveEngine = ['commands', 'doctor', 'inspect', 'origin', 'server', 'cli', 'check', 'graph'];
const typesOfConfig = { typesOf: ['config'] };
const aboveUpstream = [...aboveEngine, 'engine'];
const aboveGraph = ['commands', 'doctor', 'inspect', 'origin', 'server', 'config', 'cli', 'check'];
const aboveServer = ['commands', 'doctor', 'origin', 'cli', 'check'];
const layers = [
  { layer: 'src/lib/**', closed: outer },
  { layer: 'src/api/**', closed: outer.filter((layer) => layer !== 'api') },
  { layer: 'src/atom/**', closed: outer.filter((layer) => !['atom', 'api'].includes(layer)) },
  { layer: 'src/inspect/**', closed: [...aboveUpstream.filter((layer) => layer !== 'inspect')] },
  { layer: 'src/doctor/**', closed: ['commands', 'graph', 'engine', 'server', 'origin', 'cli'] },
  { layer: 'src/upstream/**', closed: [...aboveUpstream, 'atom'] },
  ...walls('upstream', upstream, [...aboveUpstream, 'atom']),
  { layer: 'src/engine/**', closed: [...aboveEngine, 'atom'], ...typesOfConfig },
  ...walls('engine', engine, [...aboveEngine, 'atom'], typesOfConfig),
  { layer: 'src/graph/**', closed: aboveGraph },
  ...walls('graph', graph, [...aboveGraph, 'engine/execute', 'engine/cost', 'engine/documents']),
  { layer: 'src/server/*.ts', closed: [...aboveServer, 'server/features'] },
  ...walls('server', server, [...aboveServer, 'server/features']),
  { layer: 'src/server/features/*.ts', closed: aboveServer },
  ...walls('server/features', Object.fromEntries(features.map((feature) => [feature, []])), [...aboveServer]),
  { layer: 'src/server/http/*.ts', closed: closedToHttp },
  ...walls('server/http', openOfHttp, closedToHttp),
  { layer: 'src/config/**', closed: ['commands', 'doctor', 'graph', 'engine', 'upstream', 'server', 'origin', 'atom'] },
  {
    layer: 'src/cli/**',
    closed: ['commands', 'graph', 'engine', 'upstream', 'server', 'origin', 'atom', 'api'],
  },
  { layer: 'src/check/**', closed: ['commands', 'origin', 'cli', 'upstream', 'atom', 'api'] },
  { layer: 'src/origin/store/**', closed: ['graph', 'engine', 'upstream', 'server', 'config', 'cli', 'origin/rules'] },
  { layer: 'src/origin/rules/**', closed: ['graph', 'engine', 'upstream', 'server', 'config', 'cli'] },
  {
    layer: 'src/origin/**',
    closed: ['graph', 'engine', 'upstream', 'server', 'config', 'cli'],
    except: ['src/origin/store/**', 'src/origin/rules/**'],
  },
  {
    layer: 'src/embedding/**',
    closed: ['commands', 'cli', 'check', 'doctor', 'inspect', 'origin', 'server/features', 'graph', 'atom', 'api'],
  },
  { layer: 'src/*.ts', closed: [] },
];

const patterns = (closed, typesOf) =>
  [...closed, ...typesOf].map((layer) => {
    const [first, inner] = layer.split('/');
    // `./server.ts` is a file of the same layer; only a path that leaves the layer leads to the layer `server`.
    const path = inner?.endsWith('.ts') ? `${inner}$` : `${inner}/`;
    const regex = inner ? `^(\\.\\.?/)+(${first}/)?${path}` : `^(\\.\\./)+${first}/`;
    const isForTypes = typesOf.includes(layer);
    const message = `This layer ${isForTypes ? 'imports only types' : 'does not import'} from ${layer}.`;
    return { regex, message, ...(isForTypes && { allowTypeImports: true }) };
  });

/** A rule takes one list, and a later block replaces an earlier one, so each block combines a layer with the libraries. */
const arrows = layers.flatMap(({ layer, closed, except = [], typesOf = [] }) => {
  const block = (files, ignores, open) => ({
    files,
    ignores,
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: libraries
            .filter((library) => library !== open)
            .flatMap(({ names, message }) => names.map((name) => ({ name, message }))),
          patterns: patterns(closed, typesOf),
        },
      ],
    },
  });
  const within = (file) => file.startsWith(layer.replace('**', '')) && !except.includes(file);
  const inside = libraries.filter(({ home }) => home.some(within));
  return [
    block([layer], except, undefined),
    ...inside.map((library) => block(library.home.filter(within), [], library)),
  ];
});

/** What needs libraries that have a package.json of their own is linted where they are installed. */
const client = 'client/dist/index.d.ts';
const tooled = [
  { folder: 'test/clients', files: 'test/clients/**' },
  { folder: 'test/plugins', files: 'test/plugins/**' },
  { folder: 'test/browser', files: 'test/browser/**' },
  { folder: 'bench', files: 'bench/apollo.ts' },
  // Their types are made by `npm run types:tools`.
  {
    folder: 'examples/react-relay',
    files: 'examples/react-relay/**',
    made: [client, 'examples/react-relay/src/__generated__'],
  },
  { folder: 'examples/offline-apollo', files: 'examples/{offline-apollo,shared}/**', made: [client] },
];
const isReady = ({ folder, made = [] }) => [`${folder}/node_modules`, ...made].every((path) => existsSync(path));

export default tseslint.config(
  {
    ignores: [
      '**/node_modules',
      '**/dist',
      '**/__generated__',
      'coverage',
      'generated/operations.ts',
      'test/clients/documents.ts',
      'test/frontend/*/src',
      'test/frontend/codegen',
      ...tooled.filter((each) => !isReady(each)).map(({ files }) => files),
    ],
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [js.configs.recommended, ...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', ...tooled.map(({ folder }) => `./${folder}/tsconfig.json`)],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }], // Apollo Client is told of its defaults by one
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: ['test', 'describe'] }],
      '@typescript-eslint/no-unsafe-enum-comparison': 'off', // graphql compares kinds with their names
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-control-regex': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config/read.ts reads the environment.' },
      ],
    },
  },
  {
    // What comes from outside is as long as its limit lets it be: no pattern may look at it more often than it is long.
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { ignoreSticky: false, report: 'potential' }],
    },
  },
  {
    files: ['src/config/read.ts', 'test/**/*.ts', 'bench/**/*.ts', 'examples/shared/proxy.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // A test may look at anything, loosely typed answers first of all.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  ...arrows,
);
