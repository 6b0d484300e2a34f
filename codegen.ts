import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  parse,
  printSchema,
} from 'graphql';
import { format, resolveConfig } from 'prettier';
import { settingsTable } from './src/config/settings.ts';
import { options } from './src/config/read.ts';
import { codeGroups } from './src/graph/errors/codes.ts';
import { schema } from './src/graph/schema.ts';

// This file runs from dist, one step below the package.
const root = fileURLToPath(new URL('..', import.meta.url));

/** The schema as a client has it: enums by their names instead of our values for them. */
const printedSchema = printSchema(schema);
const clientSchema = buildSchema(printedSchema);

/** Prints what follows from the sources; with `--check` it only tells whether what is printed is up to date. */
const printed = {
  'schema.graphql': `# Printed by "npm run codegen" from src/graph; not edited by hand.\n\n${printedSchema}\n`,
  'src/operations.ts': `${await typed('operations')}\n${cacheTables()}`,
  'test/clients/documents.ts': await typed('test/clients/documents'),
  'facade.d.ts': withOptions(read('facade.d.ts') ?? ''),
  'README.md': await formatted('README.md', withClients(withErrors(withSettings(read('README.md') ?? '')))),
  'docs/errors.md': await formatted('docs/errors.md', errorsPage()),
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

/** The documents of a folder with the types of their variables and answers: what does not fit the schema is not printed. */
async function typed(folder: string): Promise<string> {
  const documents = readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => ({ location: file, document: parse(read(`${folder}/${file}`) ?? '') }));
  const text = await codegen({
    filename: `${folder}.ts`,
    schema: parse(printedSchema),
    schemaAst: clientSchema,
    documents,
    config: {
      enumsAsTypes: true,
      useTypeImports: true,
      strictScalars: true,
      scalars: {
        DateTime: 'string',
        LocalDateTime: 'string',
        URL: 'string',
        Upload: { input: 'Blob', output: 'never' },
      },
    },
    plugins: [{ operations: {} }, { documents: {} }],
    pluginMap: { operations: typescriptOperations, documents: typedDocumentNode },
  });
  return `// Printed by "npm run codegen" from ${folder}/; not edited by hand.\n${text}`;
}

/** What the normalised caches of clients have to be told of a schema, and cannot see in an answer. */
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
    table(
      'The schema in short, for a cache that reads it.',
      'introspection',
      '{ __schema: { queryType: RootType; mutationType: RootType; subscriptionType: null; types: object[] } }',
      { __schema: { queryType, mutationType, subscriptionType: null, types: shapes } },
    ),
  ].join('\n');
}

/** The table of settings stands in the README as `--help` prints it. */
function withSettings(readme: string): string {
  const [start, end] = ['<!-- settings -->', '<!-- /settings -->'];
  const table = settingsTable().replaceAll(/^ {2}/gm, '');
  return readme.replace(new RegExp(`${start}[^]*${end}`), () => `${start}\n\n\`\`\`text\n${table}\n\`\`\`\n\n${end}`);
}

/** The options of `createFacade` are the settings, so they are told in the same words. */
function withOptions(types: string): string {
  const [start, end] = ['  // <options>\n', '  // </options>\n'];
  const members = options().map(([name, { type, description, shown, byDefault, optionMust, must }]) => {
    const isRequired = name === 'baseUrl' || name === 'eventBaseUrl';
    const fallback = String(shown ?? byDefault(false))
      .replace(/;? ?[^;]* beside the origin$/, '')
      .replace('on; off in', 'true; false in');
    const told = `${description} (${optionMust ?? must}).${isRequired ? '' : ` Default: ${fallback}.`}`;
    return `  /** ${told[0]!.toUpperCase()}${told.slice(1)} */\n  ${name}${isRequired ? '' : '?'}: ${type};\n`;
  });
  return types.replace(new RegExp(`${start}[^]*${end}`), () => `${start}${members.join('')}${end}`);
}

/** A row for each group of codes. */
function withErrors(readme: string): string {
  const [start, end] = ['<!-- errors -->', '<!-- /errors -->'];
  const rows = codeGroups.map(({ codes, when }) => {
    const names = Object.keys(codes).map((code) => `\`${code}\``);
    return `| ${names.join(' ')} | ${when} |`;
  });
  const table = ['| code | when |', '| --- | --- |', ...rows].join('\n');
  return readme.replace(new RegExp(`${start}[^]*${end}`), () => `${start}\n\n${table}\n\n${end}`);
}

/** What the facade shows at `/docs/errors`, for reading beside the sources. */
function errorsPage(): string {
  const sections = codeGroups.map(({ title, codes }) => {
    const each = Object.entries(codes).map(
      ([code, { what, client, operator }]) =>
        `### ${code}\n\n${what}\n\n- **Client:** ${client}\n- **Operator:** ${operator}`,
    );
    return [`## ${title}`, ...each].join('\n\n');
  });
  return [
    '<!-- Printed by "npm run codegen" from src/graph/errors/codes.ts; not edited by hand. -->',
    '# Errors',
    '`extensions.code` of an error is what to branch on; `extensions.help` leads to its place on this page as the facade serves it, `/docs/errors`.',
    ...sections,
  ].join('\n\n');
}

async function formatted(file: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(join(root, file))), filepath: file });
}

/** How a client is set up stands in the README as the tests of clients set it up. */
function withClients(readme: string): string {
  return readme.replaceAll(/<!-- (test\/clients\/\w+\.ts) -->\n[^]*?<!-- end -->/g, (_, file: string) => {
    const text = (read(file) ?? '').replace('../../src/operations.ts', 'catalog-graphql/operations');
    return `<!-- ${file} -->\n\n\`\`\`ts\n${text}\`\`\`\n\n<!-- end -->`;
  });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return undefined;
  }
}
