/** The operations of the package: the tabs of GraphiQL, which are counted by their names. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A tab that GraphiQL opens with. */
export interface Tab {
  name: string;
  query: string;
  /** Headers sent with the query, read from lines of its document such as `# x-explain: plan`. */
  headers?: Record<string, string>;
  /** Sent with the query, read from the last line of its document: `# variables: {}`. As defaults others would send them by accident. */
  variables?: Record<string, unknown>;
}

/** The order of the tabs. Other files of the folder follow by name. */
const ORDER = [
  'book',
  'film',
  'celebrity',
  'charts',
  'shelf',
  'shelf-sync',
  'annotations',
  'diary',
  'city',
  'event',
  'dashboard',
];

/** The tabs: the files in `operations/`. */
export function readTabs(folder: string): Tab[] {
  const position = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => file.slice(0, -'.graphql'.length))
    .sort((a, b) => position(a) - position(b) || a.localeCompare(b))
    .map((name) => {
      const [query = '', variables = '{}'] = readFileSync(join(folder, `${name}.graphql`), 'utf8').split(
        /^# variables: /m,
      );
      return { name, query, headers: headersIn(query), variables: JSON.parse(variables) as Record<string, unknown> };
    });
}

const headersIn = (query: string): Record<string, string> =>
  Object.fromEntries([...query.matchAll(/^# (x-[a-z-]+): (\S+)$/gm)].map(([, name, value]) => [name!, value!]));
