/** The frame of the pages of documentation: style, menu and search. They need no script. */
import { escape } from '../../../atom/xml.ts';
import { createPage, hashSource } from './assets.ts';

/** Where a page leads to. An embedding program serves the page of errors alone. */
export interface DocsMenu {
  html: string;
  hasGraphiql: boolean;
}

const style = `
:root { color-scheme: light dark; --text: light-dark(#1e2738, #e3e7f0); --weak: light-dark(#56627a, #a3aec4); --edge: light-dark(#dbe0ea, #363f52); --accent: light-dark(#3451d1, #8fa5ff); --ground: light-dark(#f4f5f8, #1f2532); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 0 1rem 4rem; background: light-dark(#fff, #151922); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1.5rem; padding: 1rem 0; border-bottom: 1px solid var(--edge); }
header b { margin-right: auto; font-size: 1.1rem; }
a { color: var(--accent); }
header a, nav a, h2 > a, h3 > a { text-decoration: none; }
input, button { padding: 0.35rem 0.6rem; border: 1px solid light-dark(#7a869e, #77839b); border-radius: 0.4rem; background: none; color: inherit; font: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.menu { padding: 1.25rem 0; font-size: 0.9rem; }
.menu a, .toc a { display: block; padding: 0.25rem 0; }
.menu b { display: block; margin-top: 1rem; }
.toc { margin: 1rem 0; font-size: 0.9rem; line-height: 1.4; columns: 9rem; }
.turn { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem; margin-top: 3rem; }
.menu [aria-current] { color: var(--text); font-weight: 600; }
main { min-width: 0; max-width: 37.5rem; overflow-wrap: break-word; }
h1 { margin: 1.25rem 0 0.5rem; font-size: 1.75rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 0.5rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--edge); font-size: 1.25rem; }
h3 { margin: 1.75rem 0 0.25rem; font-size: 1rem; }
.errors h3 { font-family: ui-monospace, monospace; }
h2 > a, h3 > a { color: inherit; }
:target { background: #fb03; outline: 0.3rem solid #fb03; }
.codes { columns: 16rem; font: 0.8rem/1.5rem ui-monospace, monospace; }
.codes a { display: block; }
code { padding: 0.1em 0.3em; border-radius: 0.25rem; background: var(--ground); font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; }
pre { padding: 0.75rem 1rem; border-radius: 0.5rem; background: var(--ground); line-height: 1.45; white-space: pre-wrap; }
pre code { padding: 0; background: none; }
table { border-collapse: collapse; font-size: 0.9rem; line-height: 1.4; }
th, td { padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--edge); text-align: left; vertical-align: top; }
.right { text-align: right; }
img { max-width: 100%; height: auto; border: 1px solid var(--edge); border-radius: 0.5rem; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--edge); }
li { margin: 0.25rem 0; }
dl { margin: 0.25rem 0; display: grid; grid-template-columns: 5.5rem 1fr; }
dt { color: var(--weak); }
dd { margin: 0; }
.errors p { margin: 0.25rem 0; }
.pages { display: block; }
.pages dt { margin-top: 0.75rem; font-weight: 600; }
@media (max-width: 40rem) {
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tr { padding: 0.5rem 0; border-bottom: 1px solid var(--edge); }
  td { padding: 0; border: 0; text-align: left; }
  td:not([data-head=""])::before { content: attr(data-head) ": "; color: var(--weak); }
}
@media (min-width: 60rem) {
  .columns { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 2.5rem; }
  .columns main { grid-area: 1 / 2; }
  .menu { grid-area: 1 / 1; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; }
}
@media (min-width: 76rem) {
  .toc { columns: auto; float: right; position: sticky; top: 1rem; width: 15rem; margin: 0 -17rem 0 0; max-height: 95vh; overflow: auto; }
}
`;

export interface DocsPage {
  path: string;
  title: string;
  /** HTML. */
  body: string;
  menu?: DocsMenu | undefined;
  /** What was searched. */
  query?: string;
}

/** The handler of a page. */
export function docsPage({ path, title, body, menu, query = '' }: DocsPage) {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · catalog-graphql</title>
${menu ? '<link rel="icon" href="data:,">' : ''}
<style>${style}</style>
${menu ? framed(path, body, menu, query) : `<main>${body}</main>`}
</html>
`;
  return createPage(html, [`style-src ${hashSource(style)}`, "img-src 'self' data:", "form-action 'self'"]);
}

function framed(path: string, body: string, { html, hasGraphiql }: DocsMenu, query: string): string {
  const all = html.replace(`href="${path}"`, '$& aria-current="page"');
  return `<header>
<b><a href="/">catalog-graphql</a></b>
<a href="/docs">Docs</a>
${hasGraphiql ? '<a href="/graphql">GraphiQL</a>' : ''}
<form action="/docs" role="search"><input type="search" name="q" value="${escape(query)}" maxlength="100" aria-label="Search the documentation"> <button>Search</button></form>
</header>
<div class="columns">
<main>${body}</main>
<nav class="menu" aria-label="Documentation">${all}</nav>
</div>`;
}
