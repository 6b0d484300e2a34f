/** The frame of the pages of documentation: style, menu and search. They work without their script. */
import { escape } from '../../../atom/xml.ts';
import { createPage, hashSource } from './assets.ts';
import { type SitePages, iconLink, siteHeader } from './header.ts';

/** What docs/build.mjs has made for all pages. An embedding program serves the page of errors alone. */
export interface DocsFrame {
  menu: string;
  style: string;
  script: string;
  site: SitePages;
}

/** The style of the page of errors in an embedding program. */
const bare = `
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 37.5rem; padding: 0 1rem 4rem; font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
nav a { display: block; }
nav a, h3 > a { color: inherit; }
`;

export interface DocsPage {
  path: string;
  title: string;
  /** HTML. */
  body: string;
  frame?: DocsFrame | undefined;
  /** What was searched. */
  query?: string;
}

/** The handler of a page. */
export function docsPage({ path, title, body, frame, query = '' }: DocsPage) {
  const style = frame?.style ?? bare;
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · catalog-graphql</title>
${frame ? iconLink : ''}
<style>${style}</style>
${frame ? framed(path, body, frame, query) : `<main>${body}</main>`}
</html>
`;
  const sources = [`style-src ${hashSource(style)}`, "img-src 'self' data:", "form-action 'self'"];
  return createPage(html, frame ? [`script-src ${hashSource(frame.script)}`, ...sources] : sources);
}

function framed(path: string, body: string, { menu, site, script }: DocsFrame, query: string): string {
  const all = menu.replace(`href="${path}"`, '$& aria-current="page"');
  const search = `<form action="/docs" role="search"><input type="search" name="q" value="${escape(query)}" maxlength="100" aria-label="Search the documentation"> <button>Search</button></form>`;
  return `${siteHeader(path, site, search)}
<div class="columns">
<main>${body}</main>
<nav class="menu" aria-label="Documentation">${all}</nav>
</div>
<script>${script}</script>`;
}
