/** The operations of the package: the tabs of GraphiQL, which are counted by their names. */
import { readFileSync, readdirSync } from 'node:fs';
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
  'shelf-sync',
  'annotations',
  'diary',
  'city',
  'event',
  'dashboard',
  'collect',
  'update-collection',
  'delete-collection',
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
