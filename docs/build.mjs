// Makes dist/docs: each page of the documentation as HTML, for /docs. Markdown is rendered here, so the program needs no library for it.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { Kind, parse } from 'graphql';

/** In the order of the menu: for users, then for maintainers. Other pages of the folder follow by name. */
const ORDER = [
  'README.md',
  'docs/front-ends.md',
  'docs/releases.md',
  'docs/settings.md',
  'docs/operations.md',
  'docs/metrics.md',
  'docs/caching.md',
  'docs/embedding.md',
  'docs/extend.md',
  'docs/agents.md',
  'docs/attribution.md',
  'SECURITY.md',
  'docs/architecture.md',
  'docs/speed.md',
  'docs/scale.md',
  'docs/interface-choices.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
];
/** Files that the facade serves at a path of their own. */
const SERVED = {
  'docs/errors.md': '/docs/errors',
  'schema.graphql': '/graphql/schema.graphql',
};
const nameOf = (file) => basename(file, '.md').toLowerCase();

/** Returns what went in and what came out, relative to the root. */
export async function buildDocs(root) {
  const [{ Marked }, { gfmHeadingId }] = await Promise.all([import('marked'), import('marked-gfm-heading-id')]);
  const all = [...ORDER, ...readdirSync(`${root}docs`).map((file) => `docs/${file}`)];
  const files = [...new Set(all)].filter((file) => file.endsWith('.md') && !SERVED[file] && existsSync(root + file));
  rmSync(`${root}dist/docs`, { recursive: true, force: true });
  mkdirSync(`${root}dist/docs`, { recursive: true });
  const pictures = readdirSync(`${root}docs`).filter((file) => file.endsWith('.png'));
  for (const picture of pictures) copyFileSync(`${root}docs/${picture}`, `${root}dist/docs/${picture}`);
  const made = files.map((file, index) => {
    const marked = new Marked(gfmHeadingId(), { renderer: renderer(file, files) });
    const html = marked.parse(readFileSync(root + file, 'utf8'));
    // The number keeps the order of the menu.
    const output = `dist/docs/${String(index).padStart(2, '0')}-${nameOf(file)}.html`;
    writeFileSync(root + output, html);
    return output;
  });
  const [taken, copied] = [`docs`, `dist/docs`].map((folder) => pictures.map((picture) => `${folder}/${picture}`));
  return { taken: ['docs', 'docs/build.mjs', ...files, ...taken], made: [...made, ...copied] };
}

const renderer = (file, files) => ({
  /** Comments only: they mark what is generated. */
  html: () => '',
  /** Links lead to pages and headings; what the program does not serve is named without a link. */
  link({ href, tokens }) {
    const text = this.parser.parseInline(tokens);
    const address = addressOf(file, files, href);
    return address === undefined ? text : `<a href="${address}">${text}</a>`;
  },
  image: ({ href, text }) => `<img src="${addressOf(file, files, href)}" alt="${text}">`,
  /** What may be wider than the page can be scrolled with the keyboard too. */
  code({ text, lang }) {
    const block = `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`;
    if (lang === 'graphql' && hasOperation(text))
      return `${block}<p class="try"><a href="/graphql?query=${encodeURIComponent(text)}">Open in GraphiQL</a></p>\n`;
    return lang === 'mermaid' ? `<details><summary>The picture, in Mermaid</summary>${block}</details>\n` : block;
  },
  table(token) {
    const cell = ({ tokens, align }, tag) =>
      `<${tag}${align ? ` class="${align}"` : ''}>${this.parser.parseInline(tokens)}</${tag}>`;
    // A heading without a text is a plain cell.
    const row = (cells, tag) => `<tr>${cells.map((each) => cell(each, each.text ? tag : 'td')).join('')}</tr>`;
    const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
    return `<div class="wide" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
  },
});

/** Whether it can be run: definitions of a schema and fragments alone cannot. */
function hasOperation(text) {
  try {
    return parse(text).definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  } catch {
    return false; // with parts left out
  }
}

/** Undefined for a file that the program does not serve. */
function addressOf(file, files, href) {
  if (/^https?:|^#/.test(href)) return href.replace(/^http:\/\/localhost:4000\/?/, '/');
  const [path, anchor] = href.split('#');
  const target = normalize(join(dirname(file), path));
  const hash = anchor === undefined ? '' : `#${target === 'docs/errors.md' ? anchor.toUpperCase() : anchor}`;
  if (SERVED[target]) return SERVED[target] + hash;
  if (target.endsWith('.png')) return `/${target}`;
  return files.includes(target) ? `/docs/${nameOf(target)}${hash}` : undefined;
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
