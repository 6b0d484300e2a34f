// Makes dist/docs: each page of the documentation as HTML, for /docs. Markdown is rendered here, so the program needs no library for it.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { Kind, parse } from 'graphql';

/** The doors of /docs with what their first page gives, then reference, and what contributors read. Each page of docs is in one group. */
const GROUPS = [
  { title: 'Start', pages: ['README.md'] },
  {
    title: 'Build a web app',
    what: 'A query in a component, more pages of a list, a form with its messages, an edit with a conflict.',
    pages: [
      'front-ends',
      'queries',
      'client-caches',
      'access',
      'writes',
      'offline',
      'persisted',
      'releases',
      'attribution',
    ],
  },
  {
    title: 'Build a mobile app',
    what: 'A first screen, a queue of changes, a shelf that is kept on the phone.',
    pages: ['mobile'],
  },
  {
    title: 'Run it',
    what: 'Install it, point it at your service, check the set-up, put it behind a proxy.',
    pages: ['operations', 'redis', 'runbook', 'caching', 'scale', 'agents', 'SECURITY.md'],
  },
  {
    title: 'Put it into your server',
    what: 'The graph as a fetch handler or a Yoga plugin, with fields and services of your own.',
    pages: ['embedding', 'extend'],
  },
  { title: 'Reference', pages: ['schema.graphql', 'errors', 'settings', 'metrics', 'CHANGELOG.md'] },
  {
    title: 'Contributors',
    pages: ['CONTRIBUTING.md', 'architecture', 'tasks', 'glossary', 'speed', 'interface-choices'],
  },
];
const ERRORS = 'docs/errors.md';
/** What the facade makes itself, or serves at a path of its own. */
const SERVED = {
  [ERRORS]: {
    path: '/docs/errors',
    title: 'Errors',
    summary: 'Every code: what happened, and what to do about it.',
  },
  'schema.graphql': {
    path: '/graphql/schema.graphql',
    title: 'Schema',
    summary: 'Every type and field, with its limits.',
  },
};
const fileOf = (page) => (page.includes('.') ? page : `docs/${page}.md`);
const nameOf = (file) => basename(file, '.md').toLowerCase();

/** Returns what went in and what came out, relative to the root. */
export async function buildDocs(root) {
  const [{ Marked }, { gfmHeadingId }, { default: hljs }, { default: nginx }] = await Promise.all([
    import('marked'),
    import('marked-gfm-heading-id'),
    import('highlight.js/lib/common'),
    import('highlight.js/lib/languages/nginx'),
  ]);
  hljs.registerLanguage('nginx', nginx);
  const coloured = (text, lang) => {
    if (!hljs.getLanguage(lang)) return escape(text);
    return hljs.highlight(text, { language: lang }).value.replaceAll('&#x27;', "'").replaceAll('&quot;', '"');
  };
  const groups = GROUPS.map((group) => ({
    ...group,
    files: group.pages.map(fileOf).filter((file) => existsSync(root + file)),
  }));
  const listed = groups.flatMap(({ files }) => files);
  const lost = readdirSync(`${root}docs`).filter((file) => file.endsWith('.md') && !listed.includes(`docs/${file}`));
  if (lost.length > 0) throw new Error(`docs/build.mjs has no group for ${lost.join(', ')}`);
  const files = listed.filter((file) => !SERVED[file]);
  const turned = listed.filter((file) => file === ERRORS || !SERVED[file]);
  const bodies = new Map(
    files.map((file) => {
      const marked = new Marked(gfmHeadingId(), { renderer: renderer(file, files, coloured) });
      return [file, marked.parse(readFileSync(root + file, 'utf8'))];
    }),
  );
  const about = (file) => SERVED[file] ?? { path: `/docs/${nameOf(file)}`, ...partsOf(bodies.get(file)) };

  rmSync(`${root}dist/docs`, { recursive: true, force: true });
  mkdirSync(`${root}dist/docs`, { recursive: true });
  const pictures = readdirSync(`${root}docs`).filter((file) => file.endsWith('.png'));
  for (const picture of pictures) copyFileSync(`${root}docs/${picture}`, `${root}dist/docs/${picture}`);
  const made = pictures.map((picture) => `dist/docs/${picture}`);
  const write = (name, html) => {
    writeFileSync(`${root}dist/docs/${name}`, html);
    made.push(`dist/docs/${name}`);
  };
  // The number keeps the order of the menu.
  for (const [at, [file, html]] of [...bodies].entries())
    write(`${String(at).padStart(2, '0')}-${nameOf(file)}.html`, withSections(html) + turns(about, turned, file));
  write('_errors-turns.html', turns(about, turned, ERRORS));
  write('_page.css', readFileSync(`${root}welcome/site.css`, 'utf8') + readFileSync(`${root}docs/page.css`, 'utf8'));
  write('_page.js', readFileSync(`${root}docs/page.js`, 'utf8'));
  write('_menu.html', menuOf(groups, about));
  write('_index.html', indexOf(groups, about));
  const page = ['docs/build.mjs', 'docs/page.css', 'docs/page.js', 'welcome/site.css'];
  return { taken: ['docs', ...page, ...files, ...pictures.map((picture) => `docs/${picture}`)], made };
}

const textOf = (html = '') => html.replaceAll(/<[^<>]*>/g, '').replaceAll(/\s+/g, ' ');
/** Title and first paragraph. */
const partsOf = (html) => ({
  title: textOf(/<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1]),
  summary: textOf(/<\/h1>\s*<p>([^]*?)<\/p>/.exec(html)?.[1]),
});

/** Each section can be linked to, and a list of them follows the title of a page that has several. */
function withSections(html) {
  const sections = [...html.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/g)];
  const linked = html.replaceAll(
    /<(h[23]) id="([^"]*)">((?:(?!<a ).)*?)<\/\1>/g,
    '<$1 id="$2"><a href="#$2">$3</a></$1>',
  );
  if (sections.length < 3) return linked;
  const links = sections.map(([, id, title]) => `<a href="#${id}">${textOf(title)}</a>`).join('\n');
  return linked.replace('</h1>', () => `</h1>\n<nav class="toc" aria-label="On this page">${links}</nav>`);
}

function turns(about, files, file) {
  const at = files.indexOf(file);
  const link = (to, rel, arrow) => {
    if (to === undefined) return '';
    const { path, title } = about(to);
    return `<a rel="${rel}" href="${path}">${arrow}: ${title}</a>`;
  };
  return `<nav class="turn" aria-label="Next and previous page">${link(files[at - 1], 'prev', 'Previous')}${link(files[at + 1], 'next', 'Next')}</nav>`;
}

/** The page behind a door has the same name in each group. */
const nameIn = ({ what, files }, file, { title }) => {
  if (what && file === files[0]) return 'First steps';
  return file === 'README.md' ? 'Overview' : title;
};

const menuOf = (groups, about) =>
  groups
    .map((group) => {
      const links = group.files.map((file) => `<a href="${about(file).path}">${nameIn(group, file, about(file))}</a>`);
      return `<b>${group.title}</b>\n${links.join('\n')}`;
    })
    .join('\n');

/** The doors, then all pages by group. */
function indexOf(groups, about) {
  const term = (path, name, text) => `<dt><a href="${path}">${name}</a></dt><dd>${text}</dd>`;
  const doors = groups.filter(({ what }) => what);
  const first = doors.map(({ title, what, files }) => term(about(files[0]).path, title, what));
  const parts = groups.map((group) => {
    const { title, files } = group;
    const items = files.map((file) => term(about(file).path, nameIn(group, file, about(file)), about(file).summary));
    const heading = `<h2 id="${title.toLowerCase().replaceAll(' ', '-')}">${title}</h2>`;
    return `<section>${heading}\n<dl class="pages">${items.join('\n')}</dl></section>`;
  });
  return `<h1>Documentation</h1>\n<p>The first ten minutes:</p>\n<dl class="pages">${first.join('\n')}</dl>\n${parts.join('\n')}`;
}

const renderer = (file, files, coloured) => ({
  /** Comments only: they mark what is generated. */
  html: () => '',
  /** Links lead to pages and headings; what the program does not serve is named without a link. */
  link({ href, tokens }) {
    const text = this.parser.parseInline(tokens);
    const address = addressOf(file, files, href);
    return address === undefined ? text : `<a href="${address}">${text}</a>`;
  },
  image: ({ href, text }) => `<img src="${addressOf(file, files, href)}" alt="${text}">`,
  code({ text, lang }) {
    const block = `<pre><code>${coloured(text, lang)}</code></pre>\n`;
    if (lang === 'graphql' && hasOperation(text))
      return `${block}<p class="try"><a href="/graphql?query=${encodeURIComponent(text)}">Open in GraphiQL</a></p>\n`;
    return lang === 'mermaid' ? `<details><summary>The picture, in Mermaid</summary>${block}</details>\n` : block;
  },
  /** On a phone each row is a list, in which the heads of the columns stand before the cells. */
  table({ header, rows }) {
    const inline = ({ tokens }) => this.parser.parseInline(tokens);
    const align = (cell) => (cell.align ? ` class="${cell.align}"` : '');
    // A heading without a text is a plain cell.
    const heads = header.map((cell) => (cell.text ? `<th${align(cell)}>${inline(cell)}</th>` : '<td></td>'));
    const body = rows.map((cells) => {
      const row = cells.map(
        (cell, at) => `<td${align(cell)} data-head="${textOf(inline(header[at]))}">${inline(cell)}</td>`,
      );
      return `<tr>${row.join('')}</tr>`;
    });
    return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table>\n`;
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
  const hash = anchor === undefined ? '' : `#${target === ERRORS ? anchor.toUpperCase() : anchor}`;
  if (SERVED[target]) return SERVED[target].path + hash;
  if (target.endsWith('.png')) return `/${target}`;
  return files.includes(target) ? `/docs/${nameOf(target)}${hash}` : undefined;
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
