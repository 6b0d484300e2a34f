/** LIMITS=report and PERSISTED_ONLY=report: counts what they would reject, for /usage, and logs it once a minute. */
import { wasSent } from '../../../upstream/call-log.ts';
import type { Feature, FeatureParts } from '../../feature.ts';
import { documentHash } from '../../graphql/ended-operation.ts';
import { UNNAMED, clientNames } from '../../observability/client-names.ts';
import { clientOf } from '../../http/request/client.ts';
import { type CountedRefusal, createRefusalCounts } from './refusal-counts.ts';
import { createReportedCheck } from './reported-check.ts';

const MINUTE_MS = 60_000;
/** How many a line names. */
const NAMED_MAX = 20;

interface ReportedFeature extends Feature {
  /** Undefined if nothing is only reported. */
  readonly refusals: () => readonly CountedRefusal[] | undefined;
}

type ReportedParts = Pick<FeatureParts, 'config' | 'schema' | 'log' | 'trusted'>;

export function createReportedFeature({ config, schema, log, trusted }: ReportedParts): ReportedFeature {
  const { reported } = config;
  if (!reported) return { refusals: () => undefined };
  const refusalsOf = createReportedCheck(schema, config, reported, trusted);
  const nameOf = clientNames(config.usageClients);
  const counts = createRefusalCounts();

  function logFresh(): void {
    const fresh = counts.takeFresh();
    if (fresh.length === 0) return;
    const named = fresh
      .slice(0, NAMED_MAX)
      .map(([{ code, operation, client, version }, requests]) => ({ code, operation, client, version, requests }));
    const requests = fresh.reduce((sum, [, each]) => sum + each, 0);
    log.info(
      { requests, refusals: named, more: fresh.length - named.length || undefined },
      'operations that would be rejected',
    );
  }
  const timer = setInterval(logFresh, MINUTE_MS);
  timer.unref();

  return {
    around: (run) => async (prepared, request, writes) => {
      const outcome = await run(prepared, request, writes);
      const { document, session, isReplayed } = outcome;
      if (!document || !session || isReplayed) return outcome;
      const refusals = refusalsOf(document, request, session.viewer);
      if (refusals.length === 0) return outcome;
      const { name, version } = clientOf(request.headers ?? {}) ?? { name: UNNAMED, version: '' };
      const client = name === UNNAMED ? { name, version } : nameOf(name, version);
      const calls = session.callLog.calls.filter(wasSent).length;
      const refused = { name: document.named.name, client, calls, hash: documentHash(document.document) };
      for (const refusal of refusals) counts.count(refusal, refused);
      return outcome;
    },
    refusals: counts.all,
    end: async () => {
      clearInterval(timer);
      logFresh();
    },
  };
}
