/** What is shipped or shown changes what it names: none of it replaces a record, or brings one back. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, OperationTypeNode, buildSchema, getOperationAST, getVariableValues, parse, print, visit } from 'graphql';
import { expect, test } from 'vitest';
import { readTabs } from '../src/server/graphql/documents/tabs.ts';
import { agent } from './support/agent.ts';
import { journey } from './support/journey.ts';
import { startFacade } from './support/start-facade.ts';

const folders = [
  'operations',
  'welcome',
  'examples',
  'graphiql',
  'docs',
  'client',
  'deploy',
  'test/browser',
  'test/clients',
  'test/frontend',
];
const files = [
  'README.md',
  'CONTRIBUTING.md',
  ...folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(
        (file) =>
          /\.(graphql|tsx?|m?js|md|html|yaml)$/.test(file) &&
          !/node_modules|dist\/|__generated__|schema\.graphql/.test(file),
      )
      .map((file) => join(folder, file)),
  ),
].filter((file) => file !== 'docs/errors.md');

const oldWrites = /\bonConflict: ?['"]?(UPDATE|REPLACE)\b|\breplace(Annotation|Collection|Event|Note)\b/g;
const oldWords = /(whether [^.]{0,60}private|privacy)[^.]{0,40} is not known|nothing says whether[^.]*private/gi;

test('no operation, example, page or tool writes the old way, or says that it is the only one', () => {
  expect(files.length).toBeGreaterThan(120);
  const found = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    // What `onConflict` and `replace…` are is said in words.
    const code = file.endsWith('.md') ? (text.match(/^```[^]*?^```/gm) ?? []).join('\n') : text;
    return [...(code.match(oldWrites) ?? []), ...(text.match(oldWords) ?? [])].map((each) => `${file}: ${each}`);
  });
  expect(found).toEqual([]);
});

const documents = readTabs('operations').map((tab) => ({ ...tab, document: parse(tab.query) }));
const rootsOf = (of: OperationTypeNode) =>
  documents.flatMap(({ document }) =>
    document.definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION && node.operation === of
        ? node.selectionSet.selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []))
        : [],
    ),
  );

test('each thing that a person does to a shelf, and writes of books and days, has a document, which is an example of GraphiQL, a tool and typed', async () => {
  const documented = {
    ...{ collectBook: 'Collect', updateCollection: 'UpdateCollection', deleteCollection: 'DeleteCollection' },
    ...{ createAnnotation: 'Annotate', updateAnnotation: 'UpdateAnnotation' },
    ...{ createNote: 'WriteNote', updateNote: 'UpdateNote' },
    ...{ createReview: 'WriteReview', replaceReview: 'ReplaceReview' },
  };
  expect(rootsOf(OperationTypeNode.MUTATION).sort()).toEqual(Object.keys(documented).sort());
  const setup = await journey({ mcp: 'on', mcpWrites: 'on' });
  const { tools } = await (await agent(setup.facade.url, 'demo-alice')).client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.values(documented)));
  const typed = readFileSync('generated/operations.ts', 'utf8');
  for (const name of Object.values(documented)) expect(typed).toContain(`export const ${name}Document`);
});

test('a mutation has no default but of what makes it private: an app that leaves out a variable writes no sample, and deletes nothing', () => {
  const defaults = documents.flatMap(({ document }) =>
    document.definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.MUTATION
        ? (node.variableDefinitions ?? []).filter(({ defaultValue }) => defaultValue).map(print)
        : [],
    ),
  );
  expect(defaults).toEqual(['$isPrivate: Boolean! = true']);
});

test('each document is valid with the variables of its line', () => {
  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
  for (const { name, document, variables = {} } of documents) {
    const { variableDefinitions = [] } = getOperationAST(document)!;
    expect([name, getVariableValues(schema, variableDefinitions, variables).errors]).toEqual([name, undefined]);
    const declared = variableDefinitions.map(({ variable }) => variable.name.value);
    expect(declared).toEqual(expect.arrayContaining(Object.keys(variables)));
  }
});

test('GraphiQL opens each document with the variables of its line, which are in no other place', async () => {
  const { url } = await startFacade({ graphiql: 'on' }, {}, { tabs: readTabs('operations') });
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const [, settings] = /<script type="application\/json" id="settings">([^]*?)<\/script>/.exec(page)!;
  const { examples } = JSON.parse(settings!) as { examples: { name: string; query: string; variables: string }[] };
  const shown = examples.map(({ name, variables }) => [name, JSON.parse(variables || '{}') as object]);
  expect(shown).toEqual(documents.map(({ name, variables }) => [name, variables]));
  expect(Object.fromEntries(shown)).toMatchObject({ collect: { rating: 4, tags: ['小说', '想重读'] }, book: {} });
  expect(examples.filter(({ query }) => query.includes('# variables'))).toEqual([]);
  const setup = await journey({ mcp: 'on', mcpWrites: 'on' });
  const { tools } = await (await agent(setup.facade.url, 'demo-alice')).client.listTools();
  expect(tools.filter((tool) => JSON.stringify(tool).includes('第一章'))).toEqual([]);
});

test('typed documents have no defaults in mutations, which are examples', () => {
  const typed = readFileSync('generated/operations.ts', 'utf8');
  for (const [, json] of typed.matchAll(/^export const \w+Document = (\{.*\}) as unknown/gm))
    visit(JSON.parse(json!) as ReturnType<typeof parse>, {
      OperationDefinition: ({ operation, variableDefinitions = [] }) => {
        if (operation === 'mutation')
          expect(variableDefinitions.filter(({ defaultValue }) => defaultValue)).toEqual([]);
      },
    });
});
