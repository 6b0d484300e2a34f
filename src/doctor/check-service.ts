/** What the reads of the service show: reachable or not, the token and its film tier. */
import type { Endpoint } from '../api/endpoint.ts';
import { serviceError } from '../api/errors.ts';
import { type ProxySettings, proxyFor } from '../config/proxy.ts';
import type { Config } from '../config/settings.ts';
import { httpTime } from '../lib/text/http-date.ts';
import { refusesOwn } from '../upstream/auth/own-refusals.ts';
import { isRateLimit } from '../upstream/errors.ts';
import { type Diagnosis, connectionAdvice, failed, ok, warning } from './diagnosis.ts';
import { isBroken, isRejected, isSuccess, tiersSeen } from '../inspect/reads.ts';
import type { ServiceRead } from '../inspect/service-reader.ts';

const isOf =
  (service: Endpoint['service']) =>
  ({ endpoint }: ServiceRead): boolean =>
    endpoint.service === service;
const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
const details = ({ endpoint, status, code }: ServiceRead) => ({
  service: endpoint.service,
  request: nameOf(endpoint),
  ...(status !== undefined && { status }),
  ...(code !== undefined && { code, row: serviceError(code) }),
});

/** The addresses, and the token that is sent to them. */
type ServiceSettings = ProxySettings &
  Pick<Config, 'baseUrl' | 'eventBaseUrl' | 'ownOrigin' | 'accessToken' | 'accessTokenFile' | 'filmTier'>;

/** Seconds by which the clocks may differ. Redis and the facade's times to live use their own. */
const SKEW_MAX_S = 60;
const SLOW_MS = 1_000;

export function checkReachable(
  service: 'catalog' | 'events',
  reads: readonly ServiceRead[],
  config: ServiceSettings,
): Diagnosis {
  const check = `upstream ${service}`;
  const variable = service === 'catalog' ? 'BASE_URL' : 'EVENT_BASE_URL';
  const address = (service === 'catalog' ? config.baseUrl : config.eventBaseUrl)!;
  const own = reads.filter(isOf(service));
  const answered = own.filter(({ status }) => status !== undefined);
  const [last] = own.filter(({ problem }) => problem !== undefined).slice(-1);
  if (answered.length === 0)
    return failed(
      check,
      `${address} cannot be reached: ${last?.problem ?? 'it was not called'}`,
      adviceFor(last?.problem, variable, config),
    );
  const gateway = own.filter(isBroken);
  const times = answered.map(({ ms }) => ms).sort((a, b) => a - b);
  const median = Math.round(times[Math.floor(times.length / 2)]!);
  const skew = skewOf(answered);
  const proxy = proxyFor(address, config);
  const way = `${address.startsWith('https:') ? 'TLS, ' : ''}${proxy ? `through ${proxy.address.host}, ` : ''}`;
  const message = `${address}: ${way}${answered.length} answers, median ${median} ms, slowest ${Math.round(times.at(-1)!)} ms`;
  if (gateway.length === own.length) {
    const { status, problem, contentType } = gateway[0]!;
    return failed(
      check,
      `${address} answers, but not as the service: status ${status}, ${problem ?? contentType ?? 'no content type'}`,
      `Look at what is at ${address}: a gateway whose service is down, or another server. ${variable} is the address without /v2.`,
    );
  }
  if (gateway.length > 0)
    return warning(
      check,
      `${message}; ${gateway.length} of ${own.length} reads failed`,
      'Look at the log of the service, and of a gateway before it.',
    );
  if (skew !== undefined && Math.abs(skew) > SKEW_MAX_S)
    return warning(
      check,
      `${message}; its clock is ${Math.abs(skew)} s ${skew > 0 ? 'ahead' : 'behind'}`,
      'Synchronise the clocks: dates in headers of caching are read by them.',
    );
  if (median > SLOW_MS)
    return warning(
      check,
      message,
      'It is slow. Look at the network and at the service; CALL_TIMEOUT_MS says when the facade gives up.',
    );
  return ok(check, skew === undefined ? `${message}; it sends no Date` : `${message}, clock ${skew} s apart`);
}

/** In seconds, of the response that says it best: the one that took least. */
function skewOf(reads: readonly ServiceRead[]): number | undefined {
  const dated = reads.filter(({ date, receivedAt }) => receivedAt !== undefined && httpTime(date) !== undefined);
  const [best] = dated.sort((a, b) => a.ms - b.ms);
  if (!best) return undefined;
  const skew = Math.round((httpTime(best.date)! - best.receivedAt!) / 1000);
  return Math.abs(skew) <= 1 ? 0 : skew; // dates have no fractions
}

function adviceFor(problem: string | undefined, variable: string, config: ServiceSettings): string {
  if (config.ownOrigin)
    return 'Start the facade with its origin (npm start), or set BASE_URL and EVENT_BASE_URL to the service.';
  if (/proxy/.test(problem ?? ''))
    return 'Check HTTPS_PROXY, its user, and whether it lets this host through; NO_PROXY names hosts that are called directly.';
  return (
    connectionAdvice(problem, variable) ??
    `Check ${variable}, and whether a firewall or a proxy (HTTPS_PROXY) is in between.`
  );
}

export function checkToken(
  reads: readonly ServiceRead[],
  { accessToken, accessTokenFile, filmTier }: ServiceSettings,
): Diagnosis {
  const check = 'token';
  const source = accessTokenFile === undefined ? 'ACCESS_TOKEN' : 'ACCESS_TOKEN_FILE';
  const accepted = reads.filter(isSuccess).length;
  const limited = reads.filter((read) => isRejected(read) && isRateLimit(details(read)));
  const hasToken = accessToken !== undefined;
  const refused = reads.filter((read) => isRejected(read) && refusesOwn(details(read), hasToken));
  if (refused.length > 0)
    return failed(
      check,
      `the service does not accept ${hasToken ? `the token of ${source}` : 'calls without a token'} (${nameOf(refused[0]!.endpoint)}: ${describe(refused[0]!)})`,
      `Get a new token, and set ${source}. A facade that runs needs a restart, except for the file.`,
    );
  if (!hasToken)
    return warning(
      check,
      'ACCESS_TOKEN is not set: what clients without a token request is sent without one',
      'Set ACCESS_TOKEN or ACCESS_TOKEN_FILE, unless every client has a token.',
    );
  if (limited.length > 0)
    return warning(
      check,
      `the service limits this token now (${describe(limited[0]!)})`,
      'Wait a minute and run the doctor again; the facade itself waits as the service says.',
    );
  if (accepted === 0)
    return warning(check, 'no read succeeded, so nothing is known of the token', 'See the lines of the upstreams.');
  const seen = tiersSeen(reads);
  const message = `the token of ${source} is accepted, film tier ${seen.length === 1 ? seen[0] : 'unknown'}`;
  if (filmTier !== undefined && seen.length > 0 && !seen.includes(filmTier))
    return warning(
      check,
      `${message}, but FILM_TIER is ${filmTier}`,
      `Set FILM_TIER=${seen[0]}: the facade requests, limits and refuses by it.`,
    );
  return ok(check, message);
}

const describe = ({ status, code }: ServiceRead): string =>
  `status ${status}${code === undefined ? '' : `, code ${code} ${serviceError(code)?.msg ?? ''}`.trimEnd()}`;
