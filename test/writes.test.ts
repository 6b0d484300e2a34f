/** What is shipped or shown changes what it names: none of it replaces a record, or brings one back. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, OperationTypeNode, parse, visit } from 'graphql';
import { expect, test } from 'vitest';
import { readTabs } from '../src/server/graphql/documents/tabs.ts';
import { agent } from './support/agent.ts';
import { journey } from './support/journey.ts';

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

const documents = readTabs('operations').map(({ name, query }) => ({ name, document: parse(query) }));
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

test('what a document changes of a record has no default: it would be written where it is left out', () => {
  for (const { name, document } of documents)
    visit(document, {
      OperationDefinition({ selectionSet, variableDefinitions = [] }) {
        const isUpdate = selectionSet.selections.some(
          (each) => each.kind === Kind.FIELD && each.name.value.startsWith('update'),
        );
        for (const { variable, type, defaultValue } of isUpdate ? variableDefinitions : [])
          expect([name, variable.name.value, type.kind !== Kind.NON_NULL_TYPE && defaultValue !== undefined]).toEqual([
            name,
            variable.name.value,
            false,
          ]);
      },
    });
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
