/** What the command says of itself: to a person at a terminal in lines, to whatever else reads it in one line of JSON. */
import type { Config } from '../config/settings.ts';

/** What was started. */
export interface StartedServers {
  /** Where the graph is; nowhere when the origin runs alone. */
  graph?: string;
  origin?: { url: string; seeded: boolean };
}

type Shown = Pick<
  Config,
  'dataDir' | 'demoTokens' | 'production' | 'graphiql' | 'explain' | 'baseUrl' | 'eventBaseUrl'
>;

const DEMO_TOKENS = 'demo-alice (advance), demo-bob (basic), demo-carol (premium)';

/** For a person: addresses, what is asked upstream, and how to ask as a demo reader. Under production no token is told. */
export function banner({ graph, origin }: StartedServers, config: Shown): string {
  const lines: [string, string][] = [];
  if (graph) lines.push(['graph', `${graph}/graphql${config.graphiql ? '   GraphiQL there in a browser' : ''}`]);
  if (origin) lines.push(['origin', `${origin.url}   ${dataIn(origin, config)}`]);
  else lines.push(['upstream', upstreamOf(config)]);
  if (graph) lines.push(['docs', `${graph}/docs/errors   /health, /ready and /metrics beside it`]);
  if (origin && config.demoTokens && !config.production) {
    lines.push(['tokens', DEMO_TOKENS]);
    if (graph) lines.push(['try', tryOut(graph)]);
  }
  return lines.map(([name, text]) => `${name.padEnd(10)}${text}\n`).join('');
}

/** For a log: the same addresses and no token. Whatever LOG_LEVEL is, since whoever started it with port 0 must learn where it is. */
export function startLine({ graph, origin }: StartedServers, config: Shown): string {
  const parts = [
    ...(graph ? [`graph ${graph}/graphql`] : []),
    origin ? `origin ${origin.url} with ${dataIn(origin, config)}` : `upstream ${upstreamOf(config)}`,
  ];
  const line = {
    level: 30,
    time: Date.now(),
    pid: process.pid,
    ...(graph ? { graph: `${graph}/graphql` } : {}),
    ...(origin ? { origin: origin.url } : { upstream: config.baseUrl, events: config.eventBaseUrl }),
    msg: `ready: ${parts.join(' over ')}`,
  };
  return `${JSON.stringify(line)}\n`;
}

const dataIn = ({ seeded }: { seeded: boolean }, { dataDir }: Shown): string =>
  `data in ${dataDir}${seeded ? ', filled with the demo catalog' : ''}`;

const upstreamOf = ({ baseUrl, eventBaseUrl }: Shown): string => `${baseUrl} (v2), ${eventBaseUrl} (events)`;

const tryOut = (graph: string): string =>
  `curl -s ${graph}/graphql -H 'content-type: application/json' -H 'authorization: Bearer demo-alice' ` +
  `-d '{"query":"{ viewer { isLoggedIn } top250(first: 3) { nodes { title } } }"}'`;
