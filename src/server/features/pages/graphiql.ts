import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLSchema, introspectionFromSchema } from 'graphql';
import type { Config } from '../../../config/settings.ts';
import { showsSchema } from '../../../config/documents/trusted-documents.ts';
import type { Tab } from '../../graphql/documents/tabs.ts';
import { createFileRoute, createPage, jsonElement } from './assets.ts';
import { type DemoSettings, demoPeople } from './demo-people.ts';
import { type SitePages, iconLink, siteHeader } from './header.ts';
import { createStaticRoute } from '../../http/response/static-response.ts';

/** Relative to /graphql, so that the page also works where a host mounts the graph below another path. */
const ASSETS = 'graphql/assets/';
const SCHEMA = `${ASSETS}schema.json`;
const JSON_TYPE = 'application/json; charset=utf-8';

/** The first tab. It fits a phone. */
const START = `# Run it: ▶ or Ctrl-Enter.
# Others: Examples, above.
query Start {
  book(id: "6082808") {
    title
    series { title }
  }
  top250(first: 3) {
    nodes { title year }
  }
}
`;

type PageSettings = DemoSettings & Pick<Config, 'explain' | 'introspection' | 'persistedOnly'>;

/** The page of GraphiQL; `folder` has its files, as graphiql/build.mjs makes them. Nothing is loaded from other hosts. */
export function createGraphiqlPage(
  config: PageSettings,
  folder: string,
  tabs: readonly Tab[],
  schema: GraphQLSchema,
  site: SitePages | undefined,
) {
  const hasSchema = showsSchema(config);
  const names = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as Record<string, string>;
  const shown = (values = {}) => (Object.keys(values).length > 0 ? JSON.stringify(values, null, 2) : '');
  const examples = tabs.map(({ name, query, variables, headers }) => {
    return { name, query, variables: shown(variables), headers: shown(headers) };
  });
  const start = config.persistedOnly ? examples[0] : { query: START };
  const options = {
    title: 'catalog-graphql',
    ...(start && { defaultTabs: [start] }), // with an empty list the editor would have no tab
    shouldPersistHeaders: true,
    defaultEditorToolsVisibility: 'headers',
    inputValueDeprecation: true,
  };
  const address = (name: string) => ASSETS + names[name]!;
  const workers = {
    editorWorkerService: address('worker-editor.js'),
    json: address('worker-json.js'),
    graphql: address('worker-graphql.js'),
  };
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL · catalog-graphql</title>
${iconLink}
<link rel="stylesheet" href="${address('graphiql.css')}">
<link rel="stylesheet" href="${address('page.css')}">
${jsonElement({ workers, explain: config.explain, options, examples, people: demoPeople(config), schema: hasSchema ? SCHEMA : undefined })}
<script defer src="${address('page.js')}"></script>
<script defer src="${address('graphiql.js')}"></script>
</head>
<body class="no-focus-outline">
${siteHeader('/graphql', site, '<h1 class="page-title">GraphiQL of catalog-graphql</h1>')}
<noscript>GraphiQL needs JavaScript.</noscript>
<main id="root"></main>
</body>
</html>
`;
  const routes = Object.values(names).map((name) => [`/${ASSETS}${name}`, createFileRoute(folder, name)] as const);
  // The response to the introspection query of GraphiQL. Browsers load it again only if it has changed.
  const introspection = createStaticRoute(JSON_TYPE, () => JSON.stringify({ data: introspectionFromSchema(schema) }));
  return {
    page: createPage(html, sources),
    /** The routes of its files, by path. */
    files: { ...Object.fromEntries(routes), ...(hasSchema && { [`/${SCHEMA}`]: introspection }) },
  };
}

const sources = [
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'", // the editor sets styles of its own
  'img-src data:',
  'font-src data:',
  "worker-src 'self'",
  "connect-src 'self'",
];
