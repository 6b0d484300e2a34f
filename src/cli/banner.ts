/** The message of the command after its start: lines for a person at a terminal, one line of JSON for a log. */
import type { Config } from '../config/settings.ts';

/** The servers that were started. */
export interface StartedServers {
  /** The URL of the facade; undefined if only the origin was started. */
  graph?: string;
  origin?: { url: string; seeded: boolean };
}

const DEMO_TOKENS = 'demo-alice (advance), demo-bob (basic), demo-carol (premium)';

/** For a person: the addresses, and a first request with a demo token. In production no token is shown. */
export function banner({ graph, origin }: StartedServers, config: Config): string {
  const lines: [string, string][] = [];
  if (graph && !config.production) lines.push(['page', `${graph}/   what it is for, shown in a browser`]);
  if (graph) lines.push(['graph', `${graph}/graphql${config.graphiql ? '   GraphiQL in a browser' : ''}`]);
  if (graph && config.mcp) lines.push(['agents', `${graph}/mcp   Model Context Protocol`]);
  if (origin) lines.push(['origin', `${origin.url}   ${dataIn(origin, config)}`]);
  else lines.push(['upstream', upstreamOf(config)]);
  if (graph) lines.push(['docs', `${graph}/docs/errors   also /health, /ready and /metrics`]);
  if (origin && config.demoTokens && !config.production) {
    lines.push(['tokens', DEMO_TOKENS]);
    if (graph) lines.push(['try', tryOut(graph)]);
  }
  return lines.map(([name, text]) => `${name.padEnd(10)}${text}\n`).join('');
}

/** For a log: the addresses without tokens. It is written at every LOG_LEVEL, because with port 0 there is no other way to learn the port. */
export function startLine({ graph, origin }: StartedServers, config: Config): string {
  const parts = [
    ...(graph ? [`graph ${graph}/graphql`] : []),
    origin ? `origin ${origin.url} with ${dataIn(origin, config)}` : `upstream ${upstreamOf(config)}`,
  ];
  const line = {
    level: 30,
    time: Date.now(),
    pid: process.pid,
    ...(graph ? { graph: `${graph}/graphql`, ...(config.mcp && { mcp: `${graph}/mcp` }) } : {}),
    ...(origin ? { origin: origin.url } : { upstream: config.baseUrl, events: config.eventBaseUrl }),
    msg: `ready: ${parts.join(' over ')}`,
  };
  return `${JSON.stringify(line)}\n`;
}

const dataIn = ({ seeded }: { seeded: boolean }, { dataDir }: Config): string =>
  `data in ${dataDir}${seeded ? ', filled with the demo catalog' : ''}`;

const upstreamOf = ({ baseUrl, eventBaseUrl }: Config): string => `${baseUrl} (v2), ${eventBaseUrl} (events)`;

const tryOut = (graph: string): string =>
  `curl -s ${graph}/graphql -H 'content-type: application/json' -H 'authorization: Bearer demo-alice' ` +
  `-d '{"query":"{ viewer { isLoggedIn } top250(first: 3) { nodes { title } } }"}'`;
