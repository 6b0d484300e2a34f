/** The page that explains every error code: what happened, and what to do about it. `extensions.help` of errors links to it. */
import { escape } from '../../atom/xml.ts';
import { type CodeGroup, codeGroups } from '../../graph/errors/codes.ts';
import { createPage, hashSource } from './assets.ts';

const style = `
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; }
h2 { margin-top: 2.5rem; font-size: 1.15rem; border-bottom: 1px solid #8886; }
h3 { margin: 1.75rem 0 0.25rem; font: 600 1rem/1.5 ui-monospace, monospace; }
h3:target { background: #fb03; outline: 0.3rem solid #fb03; }
h3 a { color: inherit; text-decoration: none; }
nav { columns: 16rem; font: 0.8rem/1.7 ui-monospace, monospace; }
nav a { display: block; }
code { font: 0.9em ui-monospace, monospace; }
p { margin: 0.25rem 0; }
dl { margin: 0.25rem 0; display: grid; grid-template-columns: 5.5rem 1fr; }
dt { opacity: 0.7; }
dd { margin: 0; }
`;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Errors of catalog-graphql</title>
<style>${style}</style>
<h1>Errors</h1>
<p>${html('Branch on `extensions.code` of an error. `extensions.help` links to its section on this page.')}</p>
<nav>${codeGroups.flatMap(({ codes }) => Object.keys(codes).map((code) => `<a href="#${code}">${code}</a>`)).join('\n')}</nav>
${codeGroups.map(section).join('\n')}
</html>
`;

export const helpPage = createPage(page, [`style-src ${hashSource(style)}`]);

function section({ title, codes }: CodeGroup): string {
  const each = Object.entries(codes).map(
    ([code, { what, client, operator }]) =>
      `<h3 id="${code}"><a href="#${code}">${code}</a></h3>\n<p>${html(what)}</p>\n` +
      `<dl><dt>Client</dt><dd>${html(client)}</dd>${operator ? `<dt>Operator</dt><dd>${html(operator)}</dd>` : ''}</dl>`,
  );
  return `<h2>${title}</h2>\n${each.join('\n')}`;
}

/** Converts a line of Markdown; the table of codes uses only code spans. */
function html(text: string): string {
  return escape(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}
