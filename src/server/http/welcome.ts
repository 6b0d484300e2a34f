/** The page at /: what the product is for, shown over the demo. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/settings.ts';
import { lazily } from '../../lib/promises.ts';
import { acceptedTypes } from './accept.ts';
import { createPage, demoToken, hashSource, jsonElement } from './assets.ts';
import type { Exchange } from './exchange.ts';
import { HELP_PATH, notFound } from './http-error.ts';

/** The handler of the page for browsers; the folder has its files. It shows the demo, or only the links. */
export function createWelcomeRoute(config: Config, folder: string): (exchange: Exchange) => void {
  const page = lazily(() => createWelcomePage(config, folder));
  return (exchange) => {
    if (!acceptedTypes(exchange.request.headers.accept).prefersPage) throw notFound();
    page()(exchange);
  };
}

function createWelcomePage(config: Config, folder: string) {
  const { explain, graphiql: hasGraphiql, publicUrl, baseUrl } = config;
  const pictures = publicUrl ?? baseUrl;
  const token = explain && pictures ? demoToken(config) : undefined;
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const documents = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
  const queries = Object.fromEntries(documents.map((file) => [file.slice(0, -'.graphql'.length), read(file).trim()]));
  const rest: unknown = JSON.parse(read('rest.json'));
  const settings = token && { token, hasGraphiql, queries, rest };
  const [style, script] = [read('welcome.css'), read('welcome.js')];
  const html = read('welcome.html')
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- links -->', () => links(hasGraphiql))
    .replace('<!-- demo -->', () => (settings ? `${jsonElement(settings)}<script>${script}</script>` : ''));
  return createPage(html, [
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    `img-src data:${token ? ` ${new URL(pictures!).origin}` : ''}`,
    "connect-src 'self'",
  ]);
}

const links = (hasGraphiql: boolean): string =>
  [
    ...(hasGraphiql ? [['/graphql', 'GraphiQL', 'write queries, see their calls']] : []),
    [HELP_PATH, 'Errors', 'every code, its cause, what to do'],
    ['/metrics', 'Metrics', 'counters for Prometheus'],
  ]
    .map(([address, name, what]) => `<a href="${address}"><b>${name}</b> ${what}</a>`)
    .join('\n');
