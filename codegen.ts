import type { GraphQLObjectType } from 'graphql';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { minifyIntrospectionQuery } from '@urql/introspection';
import {
  buildSchema,
  getNamedType,
  introspectionFromSchema,
  isAbstractType,
  isIntrospectionType,
  isObjectType,
  Kind,
  parse,
  print,
} from 'graphql';
import { format, resolveConfig } from 'prettier';
import { fingerprintOf } from './client/src/fingerprint.ts';
import { scalars } from './client/src/scalars.ts';
import { createManifest } from './src/commands/manifest-text.ts';
import { fixed } from './src/config/fixed.ts';
import { settingsMarkdown } from './src/config/settings-page.ts';
import { options, readOptions } from './src/config/read.ts';
import type { DocumentSettings } from './src/engine/documents/limits.ts';
import { codeGroups } from './src/engine/errors/codes.ts';
import { errorsMarkdown } from './src/engine/errors/markdown.ts';
import { checkNames, exposedMetrics } from './scripts/monitoring/exposed-metrics.ts';
import { alerts, rulesYaml, runbookMarkdown } from './scripts/monitoring/alerts.ts';
import { dashboardJson, dashboardQueries } from './scripts/monitoring/dashboard.ts';
import { apiShapes } from './scripts/api-shapes.mjs';
import { architecture } from './scripts/architecture.mjs';
import { printMarkedSchema } from './src/engine/null-conditions.ts';
import { schema } from './src/graph/schema.ts';
import { withoutExamples } from './src/server/features/mcp/documents/json-schema.ts';

// This file runs from dist, one step below the package.
const root = fileURLToPath(new URL('..', import.meta.url));

/** The schema as clients have it: enums with their names instead of internal values. */
const printedSchema = printMarkedSchema(schema);
const clientSchema = buildSchema(printedSchema);
/** Texts as Apollo Client and urql send them. */
const manifest = createManifest([publishedOperations()], clientSchema, { format: 'hashes', typename: true });

const metrics = await exposedMetrics();
checkNames(metrics, [...alerts.map(({ expression }) => expression), ...dashboardQueries()]);

/** Prints the files that are generated from the sources; with `--check`, only checks whether they are up to date. */
const printed = {
  'schema.graphql': `# Printed by "npm run codegen" from src/graph; not edited by hand.\n\n${printedSchema}\n`,
  'generated/operations.ts': `${await typed('operations')}\n${cacheTables()}`,
  'client/manifest.json': `${manifest}\n`,
  'client/src/document-ids.ts': await formatted('client/src/document-ids.ts', documentIds()),
  'client/src/error-codes.ts': await formatted('client/src/error-codes.ts', errorCodes()),
  'client/extra.graphqls': await formatted('client/extra.graphqls', kotlinExtensions()),
  'generated/api-shapes.ts': await formatted('generated/api-shapes.ts', shapesModule()),
  'generated/mutation-names.ts': await formatted('generated/mutation-names.ts', mutationNames()),
  'generated/document-settings.ts': await formatted('generated/document-settings.ts', documentSettings()),
  'test/clients/documents.ts': await typed('test/clients/documents'),
  'facade.d.ts': withOptions(read('facade.d.ts') ?? ''),
  'docs/access.md': await formatted('docs/access.md', withClients(read('docs/access.md') ?? '')),
  'docs/architecture.md': await withRegion('docs/architecture.md', 'picture', architecture()),
  'docs/client-caches.md': await formatted('docs/client-caches.md', withClients(read('docs/client-caches.md') ?? '')),
  'docs/errors.md': await formatted('docs/errors.md', errorsMarkdown(fixed)),
  'docs/front-ends.md': await formatted('docs/front-ends.md', withClients(read('docs/front-ends.md') ?? '')),
  'docs/offline.md': await formatted('docs/offline.md', withClients(read('docs/offline.md') ?? '')),
  'docs/metrics.md': await withRegion('docs/metrics.md', 'metrics', metricsList()),
  'docs/runbook.md': await withRegion('docs/runbook.md', 'runbook', runbookMarkdown()),
  'deploy/prometheus/rules.yaml': await formatted('deploy/prometheus/rules.yaml', rulesYaml()),
  'deploy/grafana/dashboard.json': await formatted('deploy/grafana/dashboard.json', dashboardJson()),
  'docs/settings.md': await withRegion('docs/settings.md', 'settings', settingsMarkdown()),
};

const check = process.argv.includes('--check');
for (const [file, text] of Object.entries(printed)) {
  if (read(file) === text) continue;
  if (check) {
    console.error(`${file} is out of date: run "npm run codegen".`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
    console.log(`${file} written`);
  }
}

/** A folder with the operations of the client package: a front end that leaves out a variable must not write an example. */
function publishedOperations(): string {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'));
  for (const file of readdirSync(join(root, 'operations')))
    writeFileSync(join(folder, file), print(withoutExamples(parse(read(`operations/${file}`) ?? ''))));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  return folder;
}

/** The documents of a folder with the types of their variables and results. Throws if one does not fit the schema. */
async function typed(folder: string): Promise<string> {
  const documents = readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => ({ location: file, document: withoutExamples(parse(read(`${folder}/${file}`) ?? '')) }));
  const text = await codegen({
    filename: `${folder}.ts`,
    schema: parse(printedSchema),
    schemaAst: clientSchema,
    documents,
    config: {
      enumsAsTypes: true,
      useTypeImports: true,
      strictScalars: true,
      scalars,
    },
    plugins: [{ operations: {} }, { documents: {} }],
    pluginMap: { operations: typescriptOperations, documents: typedDocumentNode },
  });
  return `// Printed by "npm run codegen" from ${folder}/; not edited by hand.\n${text}`;
}

/** The ids of the documents in the manifest, by the name of their operation. */
function documentIds(): string {
  const ids = Object.entries(JSON.parse(manifest) as Record<string, string>).map(([id, text]) => {
    const document = parse(text);
    const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
    return { name: operation?.name?.value ?? '', id, fingerprint: fingerprintOf(document) };
  });
  const table = (member: 'id' | 'fingerprint') =>
    JSON.stringify(Object.fromEntries(ids.map((each) => [each.name, each[member]])));
  const comment = 'The ids of the documents in manifest.json, by the name of their operation: SHA-256 of their text.';
  return `// Printed by "npm run codegen" from operations/; not edited by hand.

/** ${comment} */
export const documentIds: Record<${ids.map(({ name }) => `'${name}'`).join(' | ')}, string> = ${table('id')};

/** What tells these documents from others with their names. */
export const fingerprints: typeof documentIds = ${table('fingerprint')};`;
}

/** The codes of errors as a type. */
function errorCodes(): string {
  const notes = codeGroups.flatMap(({ codes }) => Object.entries(codes));
  return `// Printed by "npm run codegen" from src/engine/errors/codes.ts; not edited by hand.

/** What \`extensions.code\` of an error can be; a later version of the facade may have more. */
export type ErrorCode = ${notes.map(([code]) => `'${code}'`).join(' | ')};

/**
 * Whether the same request may help: \`no\`; \`later\`, after \`extensions.retryAfter\` seconds or a growing pause; \`login\`, with a new token;
 * \`text\`, with the text of the document; \`key\`, with its idempotency key only.
 */
export type Retry = ${[...new Set(notes.map(([, { retry }]) => retry))].map((retry) => `'${retry}'`).join(' | ')};

/** Undefined for a code of a later version of the facade. */
export const retryByCode: Readonly<Record<ErrorCode, Retry>> & Readonly<Record<string, Retry | undefined>> = {
${notes.map(([code, { retry }]) => `  ${code}: '${retry}',`).join('\n')}
};

/**
 * What a program does about an error, which \`extensions.advice\` has: mark the input (\`fix-input\`), ask for a new login (\`log-in\`), no
 * longer offer what was asked for (\`hide\`), send the request again with its text (\`retry\`) or after a while (\`retry-later\`), load what
 * was written before it is written again (\`look-first\`), or tell its developers (\`report\`).
 */
export type Advice = ${[...new Set(notes.map(([, { advice }]) => advice))].map((advice) => `'${advice}'`).join(' | ')};

/** Undefined for a code of a later version of the facade. */
export const adviceByCode: Readonly<Record<ErrorCode, Advice>> & Readonly<Record<string, Advice | undefined>> = {
${notes.map(([code, { advice }]) => `  ${code}: '${advice}',`).join('\n')}
};`;
}

/** The cache keys of Apollo Kotlin, which adds these directives to the schema. */
function kotlinExtensions(): string {
  const objects = Object.values(clientSchema.getTypeMap()).filter(isObjectType);
  const entities = objects.filter((type) => type.getFields().id);
  // A page can be merged with the next only if its items have keys.
  const lists = objects.filter(({ name }) => name.endsWith('Connection'));
  const merged = lists.filter((type) =>
    entities.includes(getNamedType(type.getFields().nodes?.type) as GraphQLObjectType),
  );
  const lookups = Object.values(clientSchema.getQueryType()!.getFields()).filter(
    ({ args, type }) =>
      args.length === 1 && args[0]!.name === 'id' && entities.includes(getNamedType(type) as GraphQLObjectType),
  );
  return `# Printed by "npm run codegen" from src/graph; not edited by hand.
# Apollo Kotlin reads this file beside schema.graphql: the keys of its normalized cache, and what a failed field becomes.
extend schema
  @link(url: "https://specs.apollo.dev/cache/v0.4", import: ["@typePolicy", "@fieldPolicy", "@connection"])

# The fields that schema.graphql marks with @semanticNonNull are not null in Kotlin where their errors are caught or thrown: @catch(to: RESULT)
# on a field, @catchByDefault(to: THROW) on an operation. Elsewhere a failed field is null, so that one refused list does not cost the page.
extend schema
  @link(url: "https://specs.apollo.dev/nullability/v0.4", import: ["@catch", "CatchTo", "@catchByDefault"])

extend schema @catchByDefault(to: NULL)

${entities.map(({ name }) => `extend type ${name} @typePolicy(keyFields: "id")`).join('\n')}

${merged.map(({ name }) => `extend type ${name} @connection`).join('\n')}

# Found in the cache without a request if the argument is the global id.
extend type Query
${lookups.map(({ name }) => `@fieldPolicy(forField: "${name}", keyArgs: "id")`).join('\n')}`;
}

/** The types of the interface at run time. */
function shapesModule(): string {
  const { reads, shapes, requiredMembers } = apiShapes(root);
  return [
    '// Printed by "npm run codegen" from src/api; not edited by hand.',
    `/** The response of each endpoint that is read. */\nexport const readShapes: Readonly<Record<string, string>> = ${JSON.stringify(reads)};`,
    `/** The members of each type of the interface, and their types. */\nexport const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(shapes)};`,
    `/** The members of each type that are required. */\nexport const requiredMembers: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(requiredMembers)};`,
  ].join('\n\n');
}

/** The limits of documents by default, for the price in the client package, which has no settings. */
function documentSettings(): string {
  const all = readOptions({ baseUrl: 'http://localhost', eventBaseUrl: 'http://localhost', production: false });
  const shown: DocumentSettings = {
    maxDocumentCharacters: all.maxDocumentCharacters,
    maxTokens: all.maxTokens,
    maxNesting: all.maxNesting,
    maxFields: all.maxFields,
    maxFragments: all.maxFragments,
    maxDepth: all.maxDepth,
    maxAliases: all.maxAliases,
    maxDirectives: all.maxDirectives,
    maxRootFields: all.maxRootFields,
    maxMutations: all.maxMutations,
    maxPlannedFields: all.maxPlannedFields,
    maxUpstreamCalls: all.maxUpstreamCalls,
    possibleCallsFactor: all.possibleCallsFactor,
    maxItems: all.maxItems,
    maxValues: all.maxValues,
    introspection: all.introspection,
  };
  return `// Printed by "npm run codegen" from src/config/settings.ts; not edited by hand.
import type { DocumentSettings } from '../src/engine/documents/limits.ts';

export const documentSettings: DocumentSettings = ${JSON.stringify(shown)};
`;
}

function mutationNames(): string {
  const names = Object.keys(clientSchema.getMutationType()!.getFields());
  return [
    '// Printed by "npm run codegen" from the schema; not edited by hand.',
    `/** The mutations of the schema. */\nexport type MutationName = ${names.map((name) => JSON.stringify(name)).join(' | ')};\n`,
  ].join('\n\n');
}

/** Information for the normalized caches of clients that they cannot derive from responses. */
function cacheTables(): string {
  const types = Object.values(clientSchema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const roots: readonly unknown[] = [clientSchema.getQueryType(), clientSchema.getMutationType()];
  const objects = types.filter(isObjectType);
  const possibleTypes = Object.fromEntries(
    types
      .filter(isAbstractType)
      .map((type) => [type.name, clientSchema.getPossibleTypes(type).map(({ name }) => name)]),
  );
  const valueTypes = objects
    .filter((type) => !roots.includes(type) && !type.getFields().id && !/(?:Connection|Edge|PageInfo)$/.test(type.name))
    .map(({ name }) => name);
  const connections = Object.fromEntries(
    objects.flatMap((type) => {
      const lists = Object.values(type.getFields())
        .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
        .map(({ name, args }) => [
          name,
          args.map((arg) => arg.name).filter((arg) => arg !== 'first' && arg !== 'after'),
        ]);
      return lists.length ? [[type.name, Object.fromEntries(lists) as unknown]] : [];
    }),
  );
  const deletions = objects.flatMap((type) => (type.getFields().deletedId ? [type.name] : []));
  const {
    queryType,
    mutationType,
    types: shapes,
  } = minifyIntrospectionQuery(introspectionFromSchema(clientSchema)).__schema;
  const table = (comment: string, name: string, type: string, value: unknown) =>
    `/** ${comment} */\nexport const ${name}: ${type} = ${JSON.stringify(value)};\n`;
  return [
    'interface RootType {\n  name: string;\n  kind: string;\n}\n',
    table('The object types of each interface and union.', 'possibleTypes', 'Record<string, string[]>', possibleTypes),
    table('Types without an id: a cache keeps them inside of what shows them.', 'valueTypes', 'string[]', valueTypes),
    table(
      'The connections of each type, with the arguments that make one list different from another.',
      'connections',
      'Record<string, Record<string, string[]>>',
      connections,
    ),
    table('Payloads with the id of what was deleted.', 'deletions', 'string[]', deletions),
    table(
      'The schema in short, for a cache that reads it.',
      'introspection',
      '{ __schema: { queryType: RootType; mutationType: RootType; subscriptionType: null; types: object[] } }',
      { __schema: { queryType, mutationType, subscriptionType: null, types: shapes } },
    ),
  ].join('\n');
}

/** A page of docs with generated content between the comments `<!-- name -->` and `<!-- /name -->`. */
function withRegion(file: string, name: string, content: string): Promise<string> {
  const page = read(file) ?? '';
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  if (!page.includes(start) || !page.includes(end)) throw new Error(`${file} lacks the comments ${start} and ${end}`);
  return formatted(
    file,
    page.replace(new RegExp(`${start}[^]*${end}`), () => `${start}\n\n${content}\n\n${end}`),
  );
}

/** The metrics of the facade; those of its process are listed elsewhere. */
function metricsList(): string {
  const own = metrics.filter(({ name }) => name.startsWith('catalog_'));
  return own.map(({ name, help }) => `- \`${name}\`: ${help}`).join('\n');
}

/** The options of `createFacade`, with the descriptions of the settings. */
function withOptions(types: string): string {
  const [start, end] = ['  // <options>\n', '  // </options>\n'];
  const members = options().map(([name, { type, description, shown, byDefault, optionMust, must }]) => {
    const isRequired = name === 'baseUrl' || name === 'eventBaseUrl';
    const fallback = String(shown ?? byDefault(false))
      .replace(/;? ?[^;]* beside the origin$/, '')
      .replace('on; off in', 'true; false in');
    const text = `${description} (${optionMust ?? must}).${isRequired ? '' : ` Default: ${fallback}.`}`;
    return `  /** ${text[0]!.toUpperCase()}${text.slice(1)} */\n  ${name}${isRequired ? `: ${type}` : `?: ${type} | undefined`};\n`;
  });
  return types.replace(new RegExp(`${start}[^]*${end}`), () => `${start}${members.join('')}${end}`);
}

async function formatted(file: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(join(root, file))), filepath: file });
}

/** Files that tests run. */
function withClients(page: string): string {
  return page.replaceAll(/<!-- (test\/[\w/-]+\.(tsx?)) -->\n[^]*?<!-- end -->/g, (_, file: string, kind: string) => {
    const text = (read(file) ?? '').replace(/'..\/..\/client\/src\/(\w+).ts'/g, "'catalog-graphql-client/$1'");
    return `<!-- ${file} -->\n\n\`\`\`${kind}\n${text}\`\`\`\n\n<!-- end -->`;
  });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return undefined;
  }
}
