/** The page at /: what the product is for, shown over the demo. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createPage, jsonElement } from './assets.ts';
import { contentPolicy, hashSource } from './content-policy.ts';
import type { Exchange } from './exchange.ts';
import { HELP_PATH } from './help.ts';

interface Demo {
  /** Its requests are sent with this token. */
  token: string;
  /** Where the pictures of its records are. */
  pictures: string;
}

/** The handler of the page; the folder has its files. Without the demo it has only the links. */
export function createWelcomePage(
  folder: string,
  demo: Demo | undefined,
  hasGraphiql: boolean,
): (exchange: Exchange) => void {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const documents = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
  const queries = Object.fromEntries(documents.map((file) => [file.slice(0, -'.graphql'.length), read(file).trim()]));
  const rest: unknown = JSON.parse(read('rest.json'));
  const settings = demo && { token: demo.token, hasGraphiql, queries, rest };
  const [style, script] = [read('welcome.css'), read('welcome.js')];
  const html = read('welcome.html')
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- links -->', () => links(hasGraphiql))
    .replace('<!-- demo -->', () => (settings ? `${jsonElement(settings)}<script>${script}</script>` : ''));
  const policy = contentPolicy([
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    `img-src data:${demo ? ` ${new URL(demo.pictures).origin}` : ''}`,
    "connect-src 'self'",
  ]);
  return createPage(html, policy);
}

const links = (hasGraphiql: boolean): string =>
  [
    ...(hasGraphiql ? [['/graphql', 'GraphiQL', 'write queries, see their calls']] : []),
    [HELP_PATH, 'Errors', 'every code, its cause, what to do'],
    ['/metrics', 'Metrics', 'counters for Prometheus'],
  ]
    .map(([address, name, what]) => `<a href="${address}"><b>${name}</b> ${what}</a>`)
    .join('\n');
