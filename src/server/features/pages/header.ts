/** The mark and the header of all pages for browsers; welcome/site.css has their style. */
import { HELP_PATH } from '../../http/response/http-error.ts';

/** Other pages that are there. */
export interface SitePages {
  hasDocs: boolean;
  hasGraphiql: boolean;
  hasSchema: boolean;
}

/** Records of three services become one graph. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><rect width="24" height="24" rx="6" fill="#3451d1"/><path d="M6.5 6.5 12 13l5.5-6.5M12 6v12" fill="none" stroke="#fff" stroke-width="2"/><g fill="#fff"><circle cx="6.5" cy="6.5" r="2"/><circle cx="12" cy="6" r="2"/><circle cx="17.5" cy="6.5" r="2"/><circle cx="12" cy="17.5" r="3"/></g></svg>';

export const iconLink = `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(MARK)}">`;

/** `path` is that of the page, `site` undefined where a host has other pages; `more` stands behind the links. */
export function siteHeader(path: string, site: SitePages | undefined, more = ''): string {
  if (!site) return `<header class="site"><span class="mark">${MARK}catalog-graphql</span>${more}</header>`;
  const pages = [
    ...(site.hasDocs ? [['/docs', 'Docs']] : []),
    ...(site.hasGraphiql ? [['/graphql', 'GraphiQL']] : []),
    ...(site.hasSchema ? [['/graphql/schema.graphql', 'Schema']] : []),
    [HELP_PATH, 'Errors'],
  ];
  const links = pages.map(([to, name]) => `<a href="${to}"${to === path ? ' aria-current="page"' : ''}>${name}</a>`);
  return `<header class="site">
<a class="mark" href="/">${MARK}catalog-graphql</a>
<nav aria-label="Pages">${links.join('\n')}</nav>
${more}
</header>`;
}
