/** The page that explains every error code: what happened, and what to do about it. `extensions.help` of errors links to it. */
import { escape } from '../../../atom/xml.ts';
import { fixed } from '../../../config/fixed.ts';
import { type CodeGroup, codeGroups, columnsOf } from '../../../engine/errors/codes.ts';
import { withNumbers } from '../../../engine/errors/markdown.ts';
import { type DocsFrame, docsPage } from './docs-layout.ts';
import { HELP_PATH } from '../../http/response/http-error.ts';

const names = codeGroups.flatMap(({ codes }) => Object.keys(codes)).sort();

export const helpBody = `<h1 id="errors">Errors</h1>
<p>${html('Branch on `extensions.code` of an error. `extensions.help` links to its section on this page.')}</p>
<nav class="codes" aria-label="Codes">${names.map((code) => `<a href="#${code}">${code}</a>`).join('\n')}</nav>
<div class="errors">${codeGroups.map(section).join('\n')}</div>`;

/** The handler of the page; an embedding program has no other pages, and no frame. */
export const createErrorDocsPage = (frame?: DocsFrame, added = '') =>
  docsPage({ path: HELP_PATH, title: 'Errors', body: helpBody + added, frame });

function section({ title, codes }: CodeGroup): string {
  const each = Object.entries(codes).map(
    ([code, { what, client, operator, ...columns }]) =>
      `<h3 id="${code}"><a href="#${code}">${code}</a></h3>\n<p>${html(what)}</p>\n` +
      `<dl><dt>Client</dt><dd>${html(client)}</dd>${operator ? `<dt>Operator</dt><dd>${html(withNumbers(operator, fixed))}</dd>` : ''}` +
      `${columnsOf(columns)
        .map(([name, text]) => `<dt>${name}</dt><dd>${html(text)}</dd>`)
        .join('')}</dl>`,
  );
  return `<h2>${title}</h2>\n${each.join('\n')}`;
}

/** Converts a line of Markdown; the table of codes uses only code spans. */
function html(text: string): string {
  return escape(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}
