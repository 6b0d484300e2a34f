import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page that GraphiQL opens with. */
export interface Tab {
  name: string;
  query: string;
  /** Sent with it: a line `# x-explain: plan` of its document is such a header. */
  headers?: Record<string, string>;
}

/** In the order in which one would show the place to a friend; whatever else lies in the folder follows. */
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

/** The pages in `operations/`, one a file. */
export function readTabs(folder: string): Tab[] {
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => file.slice(0, -'.graphql'.length))
    .sort((a, b) => place(a) - place(b) || a.localeCompare(b))
    .map((name) => {
      const query = readFileSync(join(folder, `${name}.graphql`), 'utf8');
      return { name, query, headers: headersIn(query) };
    });
}

const headersIn = (query: string): Record<string, string> =>
  Object.fromEntries([...query.matchAll(/^# (x-[a-z-]+): (\S+)$/gm)].map(([, name, value]) => [name!, value!]));

/** What we put beside GraphiQL: it shows the calls of an operation. */
export interface Panel {
  script: string;
  style: string;
}

/** The panel in `graphiql/`. */
export function readPanel(folder: string): Panel {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return { script: read('calls.js'), style: read('calls.css') };
}

/** The page: it carries its whole program, 15 MB of heap for who asks for it, and asks no other host for anything. */
export async function graphiqlPage(tabs: readonly Tab[], token: string | undefined, panel?: Panel): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const login = token ? { Authorization: `Bearer ${token}` } : {};
  const shown = (headers: object) => (Object.keys(headers).length ? JSON.stringify(headers, null, 2) : null);
  const headers = shown(login);
  const page = renderGraphiQL({
    title: 'catalog-graphql',
    // Left out where there is none: an empty list would leave the editor without a tab.
    ...(tabs.length > 0 && {
      defaultTabs: tabs.map(({ query, headers: own }) => ({ query, headers: shown({ ...login, ...own }) })),
    }),
    ...(headers && { defaultHeaders: headers }),
    shouldPersistHeaders: true,
    defaultEditorToolsVisibility: 'headers',
    inputValueDeprecation: true,
  });
  return page
    .replace('</style>', (end) => tabsStay + (panel?.style ?? '') + end)
    .replace('</head>', (end) => (panel ? `<script>${panel.script}</script>` : '') + end);
}

/** A tab with the focus would jump to where it stood before the page was laid out: away from under the pointer, and no click comes of it. */
const tabsStay = '.graphiql-tab { transform: none !important; }';

/** The browser itself keeps the promise that nothing comes from elsewhere, and that nothing runs but what the page was made of. */
export function graphiqlPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script]) => script!);
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    "default-src 'none'",
    `script-src ${hashes.join(' ')} blob:`,
    "style-src 'unsafe-inline'", // the editor lays itself out
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
