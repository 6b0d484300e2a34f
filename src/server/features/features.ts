/** All features of the server, in the order in which an operation that ended is told to them. */
import type { FacadeHooks } from '../../../facade.d.ts';
import type { CreateFeatures } from '../feature.ts';
import { createHooksFeature } from './hooks/feature.ts';
import { createIdempotencyFeature } from './idempotency/feature.ts';
import type { SwapEntries } from './idempotency/store/swap.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createManifestFeature } from './manifests/feature.ts';
import { createMcpFeature } from './mcp/feature.ts';
import { createMetricsFeature } from './metrics/feature.ts';
import { createMinClientsFeature } from './min-clients/feature.ts';
import { type PageFolders, createPagesFeature } from './pages/feature.ts';
import { createReportedFeature } from './reported/feature.ts';
import { createRequestLogFeature, createSlowLogFeature } from './request-log/feature.ts';
import { createTimingFeature } from './timing/feature.ts';
import { createTracingFeature } from './tracing/tracing.ts';
import { createUsageFeature } from './usage/feature.ts';
import type { UsageReport } from './usage/report.ts';

/** What a worker shares with the others. */
export interface Fleet {
  swapKeys: SwapEntries;
  /** Both pass on what this worker has counted, and return what all have. */
  shareMetrics: (own: Metrics) => () => Promise<string>;
  shareUsage: (own: () => UsageReport) => () => Promise<UsageReport>;
}

export const allFeatures =
  (folders: PageFolders, fleet?: Fleet, hooks?: FacadeHooks): CreateFeatures =>
  (parts) => {
    const reported = createReportedFeature(parts);
    return [
      createPagesFeature(parts, folders),
      createManifestFeature(parts),
      createSlowLogFeature(parts),
      createMetricsFeature(parts, fleet?.shareMetrics),
      createTracingFeature(parts),
      createUsageFeature(parts, reported.refusals, fleet?.shareUsage),
      reported,
      createRequestLogFeature(parts),
      createIdempotencyFeature(parts, fleet?.swapKeys),
      createMcpFeature(parts),
      createTimingFeature(parts),
      createMinClientsFeature(parts),
      createHooksFeature(parts, hooks),
    ];
  };
