/** Where a request may come from, for a route that programs on this machine use without a token. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Config } from '../../config/settings.ts';
import { isListedOrigin } from './headers.ts';
import { HttpError } from './http-error.ts';

/**
 * Rejects pages of other sites. A page that has its own name resolve to this machine sends that name as Host; it cannot send an IP address,
 * `localhost` or our own name.
 */
export function checkSource(
  { headers: { host = '', origin } }: IncomingMessage,
  config: Pick<Config, 'host' | 'corsOrigins' | 'mcpUrl'>,
): void {
  const ours = config.mcpUrl === undefined ? undefined : new URL(config.mcpUrl);
  const name = host.replace(/:\d*$/, '').toLowerCase();
  const isOurs = isLocal(name) || name === config.host.toLowerCase() || name === ours?.hostname;
  if (!isOurs) throw new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'This host is not allowed.');
  if (origin === undefined || isListedOrigin(origin, config.corsOrigins) || origin === ours?.origin) return;
  if (/^https?:\/\//.test(origin) && origin.slice(origin.indexOf('//') + 2) === host) return;
  throw new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'Pages of this origin are not allowed.');
}

const isLocal = (name: string): boolean =>
  name === '' || name === 'localhost' || isIP(name.startsWith('[') ? name.slice(1, -1) : name) !== 0;
