/** The page at /: what the product is for, shown over the demo; over another service, what is there. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../config/settings.ts';
import { lazily } from '../../../lib/promises.ts';
import { createPage, hashSource, jsonElement } from './assets.ts';
import { type DemoSettings, demoPeople } from './demo-people.ts';
import { type SitePages, iconLink, siteHeader } from './header.ts';
import type { Exchange } from '../../http/exchange.ts';
import { notFound } from '../../http/response/http-error.ts';

type WelcomeSettings = DemoSettings & Pick<Config, 'explain' | 'publicUrl' | 'baseUrl'>;

/** The handler of the page for browsers; `folder` has its files. */
export function createWelcomeRoute(config: WelcomeSettings, folder: string, site: SitePages) {
  const page = lazily(() => createWelcomePage(config, folder, site));
  return (exchange: Exchange): void => {
    if (!exchange.request.headers.accept?.includes('text/html')) throw notFound();
    page()(exchange);
  };
}

function createWelcomePage(config: WelcomeSettings, folder: string, site: SitePages) {
  const { hasGraphiql } = site;
  const { explain, publicUrl, baseUrl } = config;
  const pictures = publicUrl ?? baseUrl;
  const people = explain && pictures ? demoPeople(config) : undefined;
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const documents = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
  const queries = Object.fromEntries(documents.map((file) => [file.slice(0, -'.graphql'.length), read(file).trim()]));
  const rest: unknown = JSON.parse(read('rest.json'));
  const settings = people && { people, hasGraphiql, queries, rest };
  const [style, script] = [read('site.css') + read('welcome.css'), read('welcome.js')];
  const html = read('welcome.html')
    .replace('<!-- icon -->', () => iconLink)
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- header -->', () => siteHeader('/', site))
    .replace('<!-- about -->', () => (settings ? aboutDemo : aboutService(config.ownOrigin)))
    .replace('<!-- demo -->', () => (settings ? `${jsonElement(settings)}<script>${script}</script>` : ''));
  return createPage(html, [
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    `img-src data:${people ? ` ${new URL(pictures!).origin}` : ''}`,
    "connect-src 'self'",
  ]);
}

/** The script says how much smaller the first page is. */
const aboutDemo = `<h1 id="result">A page is one request</h1>
<p>Each page below is made from <strong>one</strong> GraphQL request, which gets only the fields that it shows. The data of the demo are Chinese; original titles stand beside.</p>`;

/** What is there without the demo: the header has the links. */
const aboutService = (ownOrigin: boolean): string => `<h1>One graph over a catalog service</h1>
<p>A front end gets a whole page of books, notes, films and events in one request, with only the fields that it needs.</p>
<p>${
  ownOrigin
    ? 'The pages of the demo need <code>DEMO</code> and <code>EXPLAIN</code> to be on.'
    : 'The pages of the demo are shown over the origin: start without <code>BASE_URL</code> to see them.'
}</p>`;
