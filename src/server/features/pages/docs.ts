/** The documentation of the package at /docs, and a search in it. docs/build.mjs makes HTML of the Markdown. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { escape } from '../../../atom/xml.ts';
import { lazily } from '../../../lib/promises.ts';
import { type DocsFrame, docsPage } from './docs-layout.ts';
import type { SitePages } from './header.ts';
import type { Exchange } from '../../http/exchange.ts';
import { createErrorDocsPage, helpBody } from './error-docs-page.ts';
import { HELP_PATH } from '../../http/response/http-error.ts';
import { createStaticRoute } from '../../http/response/static-response.ts';

const DOCS_PATH = '/docs';
const QUERY_LENGTH = 100;
const RESULTS = 30;
/** The link to GraphiQL behind an example. */
const TRY = /<p class="try">.*?<\/p>\n/g;

/** Links to sections and other pages. */
const NAVIGATION = /<nav .*?<\/nav>/gs;

interface DocsFile {
  path: string;
  title: string;
  html: string;
}

/** A heading and the text below it, up to the next heading. */
interface Section {
  address: string;
  title: string;
  heading: string;
  /** Heading and all of it in lower case, for the search. */
  lower: { heading: string; all: string };
}

/** The routes of the pages in the folder. Pages are read at the first request. */
export function createDocsRoutes(folder: string, site: SitePages) {
  const names = readdirSync(folder).sort();
  const pages = names.filter((name) => /^\d.*\.html$/.test(name));
  const docs = lazily(() => readDocs(folder, pages, site));
  const paths = [...pages.map(pathOf), HELP_PATH];
  const pictures = names.filter((name) => name.endsWith('.png'));
  return {
    [DOCS_PATH]: (exchange: Exchange): void => docs().index(queryOf(exchange))(exchange),
    ...Object.fromEntries(paths.map((path) => [path, (exchange: Exchange): void => docs().pages.get(path)!(exchange)])),
    ...Object.fromEntries(
      pictures.map((name) => [
        `${DOCS_PATH}/${name}`,
        createStaticRoute('image/png', () => readFileSync(join(folder, name))),
      ]),
    ),
  };
}

/** `01-front-ends.html` -> `/docs/front-ends`: the number is the order in the menu. */
const pathOf = (name: string): string => `${DOCS_PATH}/${name.replaceAll(/^\d+-|\.html$/g, '')}`;

function readDocs(folder: string, names: readonly string[], site: SitePages) {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const files = names.map((name): DocsFile => {
    const html = site.hasGraphiql ? read(name) : read(name).replaceAll(TRY, '');
    return { path: pathOf(name), title: textOf(/<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1] ?? name), html };
  });
  const [menu, style, script] = [read('_menu.html'), read('_page.css'), read('_page.js')];
  const frame: DocsFrame = { menu, style, script, site };
  const sections = [...files, { path: HELP_PATH, title: 'Errors', html: helpBody }].flatMap(sectionsOf);
  const pages = files.map(({ path, title, html: body }) => [path, docsPage({ path, title, body, frame })] as const);
  const index = (query: string) => {
    const body = query ? resultsBody(find(sections, query), query) : read('_index.html');
    return docsPage({ path: DOCS_PATH, title: query ? 'Search' : 'Documentation', body, frame, query });
  };
  return { pages: new Map([...pages, [HELP_PATH, createErrorDocsPage(frame, read('_errors-turns.html'))]]), index };
}

/** What is searched; control characters cannot be shown. The address before the query need not be a valid one. */
function queryOf({ request: { url = '' } }: Exchange): string {
  const at = url.indexOf('?');
  const query = (at < 0 ? null : new URLSearchParams(url.slice(at)).get('q')) ?? '';
  return query.slice(0, QUERY_LENGTH).replaceAll(/\p{C}/gu, ' ').trim();
}

/** The sections with all words of the query, those with more of them in the heading first, then in the order of the pages. */
function find(sections: readonly Section[], query: string): Section[] {
  const words = [...new Set(query.toLowerCase().split(/\s+/))];
  const found = sections.filter(({ lower: { all } }) => words.every((word) => all.includes(word)));
  const rank = ({ lower: { heading } }: Section) => words.filter((word) => heading.includes(word)).length;
  return found.sort((a, b) => rank(b) - rank(a)).slice(0, RESULTS);
}

function resultsBody(found: readonly Section[], query: string): string {
  const items = found.map(({ address, title, heading }) => {
    const label = heading === title ? title : `${title}: ${heading}`;
    return `<li><a href="${address}">${escape(label)}</a></li>`;
  });
  const count = found.length === 0 ? 'Nothing has all of these words.' : `Sections with “${escape(query)}”`;
  return `<h1>Search</h1>\n<p role="status">${count}</p>\n<ol>${items.join('\n')}</ol>`;
}

function sectionsOf({ path, title, html }: DocsFile): Section[] {
  const parts = html.replaceAll(NAVIGATION, '').split(/<h[1-3][^>]* id="([^"]*)"[^>]*>(.*?)<\/h[1-3]>/g);
  const sections: Section[] = [];
  // Before each text are the id and the heading that the split has captured.
  for (let at = 1; at < parts.length; at += 3) {
    const [id = '', heading = '', text = ''] = parts.slice(at, at + 3);
    const shown = textOf(heading);
    const all = `${title} ${shown} ${textOf(text)}`.toLowerCase();
    sections.push({ address: `${path}#${id}`, title, heading: shown, lower: { heading: shown.toLowerCase(), all } });
  }
  return sections;
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

const textOf = (html: string): string =>
  html
    .replaceAll(/<\/?(?:a|code|em|span|strong)\b[^<>]*>/g, '')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity]!)
    .replaceAll(/\s+/g, ' ')
    .trim();
