/** The page at /: what the product is for, shown over the demo; over another service, what is there. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { escape } from '../../../atom/xml.ts';
import type { Config } from '../../../config/settings.ts';
import { lazily } from '../../../lib/promises.ts';
import { createPage, hashSource, jsonElement } from './assets.ts';
import { type DemoSettings, demoPeople } from './demo-people.ts';
import { type SitePages, iconLink, siteHeader } from './header.ts';
import type { Exchange } from '../../http/exchange.ts';
import { notFound } from '../../http/response/http-error.ts';

type WelcomeSettings = DemoSettings &
  Pick<Config, 'explain' | 'publicUrl' | 'baseUrl' | 'eventBaseUrl' | 'accessToken' | 'filmTier'>;

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
    .replace('<!-- about -->', () => (settings ? aboutDemo : aboutService))
    .replace('<!-- main -->', () => (settings ? '' : serviceSection(config, hasGraphiql)))
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

const aboutService = `<h1>One graph over a catalog service</h1>
<p>A front end gets a whole page of books, notes, films and events in one request, with only the fields that it needs.</p>`;

/** Queries that any service can respond to. */
const FIRST_QUERIES = [
  ['The limits of the service', '{ service { limits { book { reviewContentMinLength } pictures { maxBytes } } } }'],
  ['A search of books', '{ searchBooks(query: "1984", first: 5) { totalCount nodes { id title authors } } }'],
  ['The best films', '{ top250(first: 5) { nodes { id title rating { average } } } }'],
  ['Events of a city', '{ city(id: "beijing") { events(first: 5) { nodes { id title startsAt } } } }'],
] as const;

/** What is there without the demo. */
function serviceSection(config: WelcomeSettings, hasGraphiql: boolean): string {
  const { ownOrigin, baseUrl, eventBaseUrl, accessToken, filmTier } = config;
  const host = (address = '') => (URL.canParse(address) ? `<code>${escape(new URL(address).host)}</code>` : 'nowhere');
  const facts = [
    ['Books, notes and films', host(baseUrl)],
    ['Events', host(eventBaseUrl)],
    [
      'Requests without a token',
      accessToken === undefined
        ? 'are sent without one: <code>ACCESS_TOKEN</code> is not set'
        : `use <code>ACCESS_TOKEN</code>, film tier ${filmTier ?? 'unknown'}`,
    ],
    ['Requests of a user', 'have the header <code>Authorization: Bearer …</code>'],
  ];
  const rows = facts.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join('\n');
  const queries = FIRST_QUERIES.map(
    ([name, query]) => `<li><a href="/graphql?query=${encodeURIComponent(query)}">${name}</a></li>`,
  ).join('\n');
  const why = ownOrigin
    ? '<p>The pages of the demo need <code>DEMO</code> and <code>EXPLAIN</code> to be on.</p>'
    : '<p>The pages of the demo are shown over the origin: start without <code>BASE_URL</code> to see them.</p>';
  return `<section class="service" aria-label="The service">
<div class="page"><h2>The service</h2><dl class="facts">${rows}</dl>${why}</div>
${hasGraphiql ? `<div class="price"><h2>First queries</h2><ul>${queries}</ul></div>` : ''}
</section>`;
}
