import type { Endpoint } from '../../api/endpoint.ts';
import type { Logger } from 'pino';
import type { OnOwnRefused } from '../../upstream/auth/own-refusals.ts';
import type { OnAvailabilityChange } from '../../upstream/availability.ts';
import { oncePer } from '../../lib/remember.ts';
import { describeDeviation } from '../../inspect/compare.ts';
import { watchInterface } from '../../inspect/watch.ts';
import type { UpstreamErrorDetails } from '../../upstream/errors.ts';
import { wasSent } from '../../upstream/call-log.ts';
import type { ObservedCall } from '../../upstream/http/call.ts';
import type { OnPause } from '../../upstream/limits/pauses.ts';
import type { Metrics } from './metrics.ts';
import { endCallSpan } from './spans.ts';

/** Counts upstream calls and ends their spans. Labels have the path's template, never an id, which a client could choose. */
export function observeCalls(metrics: Metrics, log: Logger): (call: ObservedCall) => void {
  const responses = createResponseLog(log);
  const successesOf = oncePer((endpoint: Endpoint) => {
    const labels = labelsOf(endpoint);
    const count = metrics.upstreamCalls.labels({ ...labels, outcome: '200' });
    return metrics.durations(metrics.upstreamSeconds.labels(labels), ({ length }) => count.inc(length));
  });
  const hitsOf = oncePer((endpoint: Endpoint) =>
    metrics.counts(metrics.cacheHits.labels({ ...labelsOf(endpoint), how: 'cached' })),
  );

  return (call) => {
    const { endpoint, how, outcome, ms, span } = call;
    if (how === 'cached') return hitsOf(endpoint).inc();
    if (how === 'sent' && outcome === '200') successesOf(endpoint).add(ms / 1000);
    else {
      const labels = labelsOf(endpoint);
      if (how === 'stale') return metrics.cacheHits.inc({ ...labels, how });
      if (outcome === 'RateLimited') return metrics.rateLimited.inc(labels);
      if (wasSent(call)) {
        metrics.upstreamCalls.inc({ ...labels, outcome });
        metrics.upstreamSeconds.observe(labels, ms / 1000);
      }
    }
    if (span) endCallSpan(span, call);
    if (call.mended) responses.logMended(call.mended);
    if (call.failure?.ownTrouble !== undefined) responses.logOwnTrouble(call.failure);
    if (call.failure?.status !== undefined || call.failure?.reason) responses.logResponse(outcome, call.failure);
  };
}

/** Counts and logs what responses have that the interface has not. A member is logged once. */
export const observeInterface = (metrics: Metrics, log: Logger) =>
  watchInterface(({ service, method, path }, found, first) => {
    const endpoint = `${method} ${path}`;
    metrics.unexpectedMembers.inc({ endpoint }, found.length);
    const members = first.slice(0, LOGGED_MEMBERS).map(describeDeviation);
    if (members.length > 0)
      log.warn(
        { service, endpoint, members, more: first.length - members.length || undefined },
        `${service} sent a response that differs from the interface`,
      );
  });

const LOGGED_MEMBERS = 20;

const labelsOf = ({ service, method, path }: Endpoint) => ({ service, endpoint: `${method} ${path}` });

/** A kind of response is logged once in this time. */
const QUIET_MS = 60_000;

/** `write` gets the number of events of this kind that were not logged; it is not called if one was logged a moment ago. */
function createQuietLog() {
  const kinds = new Map<string, { loggedAt: number; unlogged: number }>();
  return (kind: string, write: (unlogged: number | undefined) => void): void => {
    const last = kinds.get(kind);
    const now = performance.now();
    if (last && now - last.loggedAt < QUIET_MS) return void last.unlogged++;
    kinds.set(kind, { loggedAt: now, unlogged: 0 });
    write(last?.unlogged || undefined);
  };
}

/** Logs responses that were rejections, or could not be read as they came: of each kind one a minute, with the number of those before it. */
function createResponseLog(log: Logger) {
  const logOnce = createQuietLog();
  return {
    logMended({ service, request }: UpstreamErrorDetails): void {
      logOnce(`${service} broken character`, (unlogged) =>
        log.warn({ service, request, unlogged }, `${service} sent a text with a broken character, which was replaced`),
      );
    },
    logOwnTrouble({ service, request, ownTrouble: reason }: UpstreamErrorDetails): void {
      logOnce(`own ${reason}`, (unlogged) =>
        log.error(
          { service, request, reason, unlogged },
          'no connection can be made: this machine lacks file descriptors, ports or memory',
        ),
      );
    },
    logResponse(outcome: string, { service, request, status, code, reason }: UpstreamErrorDetails): void {
      const isRejection = outcome === String(status);
      // Numbers that a service chooses would be unbounded.
      const kind = `${service} ${isRejection && status! < 600 ? status : outcome.slice(0, 40)}`;
      logOnce(kind, (unlogged) => {
        const facts = { service, request, status, code, unlogged };
        if (isRejection) log.info(facts, `${service} rejected a request`);
        else log.info({ ...facts, error: outcome, reason }, `${service} sent a response that cannot be used`);
      });
    },
  };
}

/** Logs once when an upstream or Redis becomes unreachable, and once when it is reachable again. */
export const logOutages =
  (log: Logger): OnAvailabilityChange =>
  (service, reason) =>
    reason === undefined
      ? log.warn({ service }, `${service} is reachable again`)
      : log.warn({ service, reason }, `${service} is unreachable`);

/** Logs that a service refuses the facade's own credential, which only the operator can change, and that it accepts it again. */
export function logOwnRefused(log: Logger): OnOwnRefused {
  const logOnce = createQuietLog();
  return (service, reason, hasToken) => {
    const what = hasToken ? 'ACCESS_TOKEN' : 'calls without a token';
    logOnce(`${service} ${reason}`, (unlogged) =>
      reason === undefined
        ? log.warn({ service, unlogged }, `${service} accepts ${what} again`)
        : log.warn({ service, code: reason, unlogged }, `${service} refuses ${what} (${reason})`),
    );
  };
}

/** Logs each pause that a service asks for. Anybody can make up tokens, so a pause of a client is no warning. */
export const logPauses =
  (log: Logger): OnPause =>
  ({ service, method, path }, paused, seconds) =>
    log[paused === 'client' ? 'debug' : 'warn'](
      { service, endpoint: `${method} ${path}`, paused, seconds },
      `${service} asks for a pause of its calls`,
    );
