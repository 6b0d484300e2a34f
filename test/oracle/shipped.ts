import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentNode, Kind, parse, print, separateOperations, visit } from 'graphql';
import { readTabs } from '../../src/server/graphql/documents/tabs.ts';

/** The operations of the package, of the welcome page and of the examples, with their variables. */
export function shipped(): { name: string; document: string; variables: Record<string, unknown> }[] {
  const named = ['operations', 'welcome'].flatMap((folder) =>
    readTabs(folder).map(({ name, query: document, variables = {} }) => ({
      name: `${folder}/${name}.graphql`,
      document,
      variables,
    })),
  );
  return [...named, ...ofExamples()];
}

/** The documents in the sources of the examples: each operation with the fragments that it spreads. */
function ofExamples(): ReturnType<typeof shipped> {
  const text = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\/src\/[^/]+\.tsx?$/.test(file) && !file.includes('node_modules'))
    .flatMap((file) => readFileSync(join('examples', file), 'utf8').match(/(?<=\b(?:graphql|gql)`)[^`]+/g) ?? [])
    .join('\n');
  return Object.entries(separateOperations(parse(text))).map(([name, document]) => ({
    name: `examples: ${name}`,
    document: print(asSent(document)),
    variables: { id: '1003078', input: { bookId: '1003078', isPrivate: true, ...inputs[name] } },
  }));
}

const inputs: Readonly<Record<string, object>> = {
  AnnotationFormMutation: { content: 'A text that is long enough.', page: 7 },
  ShelfEditorAddMutation: { status: 'READ' },
  ShelfEditorChangeMutation: { status: 'READ' },
};

/** Without the directives of Relay, which its compiler removes, and the arguments of fragments, which it fills in. */
function asSent(document: DocumentNode): DocumentNode {
  const declared = document.definitions.flatMap((node) =>
    'variableDefinitions' in node ? (node.variableDefinitions ?? []).map(({ variable }) => variable.name.value) : [],
  );
  const known = new Set(['skip', 'include', 'defer', 'stream']);
  return visit(document, {
    Field: ({ name }) => (name.value === '__id' ? null : undefined),
    Directive: ({ name }) => (known.has(name.value) ? undefined : null),
    Argument: ({ value }) => (value.kind === Kind.VARIABLE && !declared.includes(value.name.value) ? null : undefined),
    VariableDefinition: ({ variable }) => (variable.name.value === 'connections' ? null : undefined),
  });
}
