/** What the command says after its start: lines for a person at a terminal, one line for a log. */
import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';

/** The servers that were started. */
export interface StartedServers {
  version: string;
  /** The facade; undefined if only the origin was started. */
  facade?: { url: string };
  origin?: { url: string; seeded: boolean };
}

/** What the message says of the settings. */
export type BannerSettings = Pick<
  Config,
  'production' | 'graphiql' | 'mcp' | 'demo' | 'dataDir' | 'baseUrl' | 'eventBaseUrl'
>;

const DEMO_TOKENS = 'demo-alice (advance), demo-bob (basic), demo-carol (premium)';

/** For a person: the addresses, and a first request with a demo token. In production no token is shown. */
export function banner({ version, facade, origin }: StartedServers, config: BannerSettings): string {
  const graph = facade?.url;
  const lines: [string, string][] = [['version', version]];
  if (graph && !config.production) lines.push(['page', `${graph}/   what it is for, shown in a browser`]);
  if (graph) lines.push(['graph', `${graph}/graphql${config.graphiql ? '   GraphiQL in a browser' : ''}`]);
  if (graph && config.mcp) lines.push(['agents', `${graph}/mcp   Model Context Protocol`]);
  if (origin) lines.push(['origin', `${origin.url}   ${dataIn(origin, config)}`]);
  else if (facade) lines.push(...upstreamsOf(config));
  if (graph) lines.push(['docs', `${graph}/docs/errors   also /health, /ready and /metrics`]);
  if (origin && config.demo && !config.production) {
    lines.push(['tokens', DEMO_TOKENS]);
    if (graph) lines.push(['try', tryOut(graph)]);
  }
  return lines.map(([name, text]) => `${name.padEnd(10)}${text}\n`).join('');
}

/** For a log: the addresses without tokens. */
export function logStart({ version, facade, origin }: StartedServers, config: BannerSettings, log: Logger): void {
  const graph = facade && `${facade.url}/graphql`;
  const parts = [
    ...(graph ? [`graph ${graph}`] : []),
    ...(origin ? [`origin ${origin.url} with ${dataIn(origin, config)}`] : []),
    ...(facade && !origin
      ? [
          upstreamsOf(config)
            .map((line) => line.join(' '))
            .join(' and '),
        ]
      : []),
  ];
  const fields = {
    version,
    ...(graph && { graph, ...(config.mcp && { mcp: `${facade.url}/mcp` }) }),
    ...(origin ? { origin: origin.url } : { catalog: config.baseUrl, events: config.eventBaseUrl }),
  };
  log.info(fields, `ready: ${parts.join(' over ')}`);
}

const dataIn = ({ seeded }: { seeded: boolean }, { dataDir }: BannerSettings): string =>
  `data in ${dataDir}${seeded ? ', filled with the demo catalog' : ''}`;

const upstreamsOf = ({ baseUrl, eventBaseUrl }: BannerSettings): [name: string, text: string][] => [
  ['catalog', `${baseUrl}`],
  ['events', `${eventBaseUrl}`],
];

const tryOut = (graph: string): string =>
  `curl -s ${graph}/graphql -H 'content-type: application/json' -H 'authorization: Bearer demo-alice' ` +
  `-d '{"query":"{ viewer { isLoggedIn } top250(first: 3) { nodes { title } } }"}'`;
