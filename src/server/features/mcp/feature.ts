/** Tools for agents: the route /mcp and its OAuth metadata. Everything else of it is loaded only where MCP is on. */
import { lazily } from '../../../lib/promises.ts';
import type { Feature, FeatureParts, ServerRoute, Routes } from '../../feature.ts';

/** The OAuth metadata of /mcp, by RFC 9728. */
const METADATA = '/.well-known/oauth-protected-resource';

export function createMcpFeature(parts: FeatureParts): Feature {
  const { config } = parts;
  if (!config.mcp) return {};
  const mcp = lazily(async () => (await import('./route.ts')).createMcpRoutes(parts));
  const metadata: ServerRoute = {
    handler: async (exchange) => (await mcp()).metadata(exchange),
    audience: 'clients',
    mayEndInSlash: true,
  };
  const routes: Routes = {
    '/mcp': {
      handler: async (exchange) => (await mcp()).answer(exchange),
      audience: 'clients',
      errorFormat: 'json-rpc',
      mayEndInSlash: true,
    },
    ...(config.mcpAuthorizationServer !== undefined && { [METADATA]: metadata, [`${METADATA}/mcp`]: metadata }),
  };
  // Errors of the tools of agents are reported at the start.
  return { routes, ready: mcp };
}
