/** The pages for browsers: GraphiQL, the documentation, the start page, and the schema as a file. */
import { existsSync } from 'node:fs';
import { showsSchema } from '../../../config/documents/trusted-documents.ts';
import { printMarkedSchema } from '../../../engine/null-conditions.ts';
import type { Feature, FeatureParts, ServerRoute, Routes } from '../../feature.ts';
import type { RouteHandler } from '../../http/connections/http-server.ts';
import { HELP_PATH } from '../../http/response/http-error.ts';
import { createStaticRoute } from '../../http/response/static-response.ts';
import { createDocsRoutes } from './docs.ts';
import { createErrorDocsPage } from './error-docs-page.ts';
import { createGraphiqlPage } from './graphiql.ts';
import type { SitePages } from './header.ts';
import { createWelcomeRoute } from './welcome.ts';

/** Folders with the files of pages. Without one there is no such page. */
export interface PageFolders {
  graphiql?: string | undefined;
  /** The folder of the page at /. */
  welcome?: string | undefined;
  /** The folder of the pages at /docs; without it there is only that of the errors. */
  docs?: string | undefined;
}

const SDL_TYPE = 'application/graphql; charset=utf-8';

export function createPagesFeature({ config, schema, tabs }: FeatureParts, folders: PageFolders): Feature {
  const { welcome, docs } = config.production ? {} : folders;
  const hasGraphiql = config.graphiql && folders.graphiql !== undefined;
  const hasDocs = docs !== undefined && existsSync(docs);
  const hasSchema = showsSchema(config);
  const site: SitePages = { hasDocs, hasGraphiql, hasSchema };
  const graphiql = hasGraphiql
    ? createGraphiqlPage(config, folders.graphiql!, tabs, schema, welcome === undefined ? undefined : site)
    : undefined;
  const routes: Routes = {
    ...(welcome !== undefined && { '/': { handler: createWelcomeRoute(config, welcome, site), audience: 'pages' } }),
    ...forClients(graphiql?.files ?? {}),
    ...forClients(hasDocs ? createDocsRoutes(docs, site) : { [HELP_PATH]: createErrorDocsPage() }),
    ...(hasSchema &&
      forClients({ '/graphql/schema.graphql': createStaticRoute(SDL_TYPE, () => printMarkedSchema(schema)) })),
  };
  return { routes, page: graphiql?.page };
}

const forClients = (handlers: Readonly<Record<string, RouteHandler>>): Routes =>
  Object.fromEntries(
    Object.entries(handlers).map(([path, handler]): [string, ServerRoute] => [path, { handler, audience: 'clients' }]),
  );
