import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A tab that GraphiQL opens with. */
export interface Tab {
  name: string;
  query: string;
  /** Headers sent with the query, read from lines of its document such as `# x-explain: plan`. */
  headers?: Record<string, string>;
}

/** The order of the tabs. Other files of the folder follow by name. */
const ORDER = [
  'book',
  'film',
  'celebrity',
  'charts',
  'shelf',
  'annotations',
  'diary',
  'city',
  'event',
  'dashboard',
  'collect',
  'annotate',
  'note',
  'explain',
];

/** The tabs: the files in `operations/`. */
export function readTabs(folder: string): Tab[] {
  const position = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => file.slice(0, -'.graphql'.length))
    .sort((a, b) => position(a) - position(b) || a.localeCompare(b))
    .map((name) => {
      const query = readFileSync(join(folder, `${name}.graphql`), 'utf8');
      return { name, query, headers: headersIn(query) };
    });
}

const headersIn = (query: string): Record<string, string> =>
  Object.fromEntries([...query.matchAll(/^# (x-[a-z-]+): (\S+)$/gm)].map(([, name, value]) => [name!, value!]));

/** An addition to GraphiQL that shows the upstream calls of an operation. */
export interface Panel {
  script: string;
  style: string;
}

/** The panel in `graphiql/`. */
export function readPanel(folder: string): Panel {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return { script: read('calls.js'), style: read('calls.css') };
}

/** The page of GraphiQL. It contains all its scripts (15 MB of heap) and loads nothing from other hosts. */
export async function graphiqlPage(tabs: readonly Tab[], token: string | undefined, panel?: Panel): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const login = token ? { Authorization: `Bearer ${token}` } : {};
  const shown = (headers: object) => (Object.keys(headers).length ? JSON.stringify(headers, null, 2) : null);
  const headers = shown(login);
  const page = renderGraphiQL({
    title: 'catalog-graphql',
    // With an empty list the editor would have no tab.
    ...(tabs.length > 0 && {
      defaultTabs: tabs.map(({ query, headers: own }) => ({ query, headers: shown({ ...login, ...own }) })),
    }),
    ...(headers && { defaultHeaders: headers }),
    shouldPersistHeaders: true,
    defaultEditorToolsVisibility: 'headers',
    inputValueDeprecation: true,
  });
  return page
    .replace('</style>', (end) => tabStyle + (panel?.style ?? '') + end)
    .replace('</head>', (end) => (panel ? `<script>${panel.script}</script>` : '') + end);
}

/** Without this, a focused tab moves while the page is laid out, and a click misses it. */
const tabStyle = '.graphiql-tab { transform: none !important; }';

/** The content security policy of the page: the browser runs only its own scripts and loads nothing from other hosts. */
export function graphiqlPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script]) => script!);
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    "default-src 'none'",
    `script-src ${hashes.join(' ')} blob:`,
    "style-src 'unsafe-inline'", // the editor sets styles of its own
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
