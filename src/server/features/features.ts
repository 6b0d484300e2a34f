/** All features of the server, in the order in which an operation that ended is passed to them. */
import type { FacadeHooks } from '../../../facade.d.ts';
import type { CreateFeatures } from '../feature.ts';
import { createHooksFeature } from './hooks/feature.ts';
import { createIdempotencyFeature } from './idempotency/feature.ts';
import { createMcpFeature } from './mcp/feature.ts';
import { createMetricsFeature } from './metrics/feature.ts';
import { createMinClientsFeature } from './min-clients/feature.ts';
import { type PageFolders, createPagesFeature } from './pages/feature.ts';
import { createRequestLogFeature, createSlowLogFeature } from './request-log/feature.ts';
import { createTimingFeature } from './timing/feature.ts';
import { createTracingFeature } from './tracing/tracing.ts';
import { createUsageFeature } from './usage/feature.ts';

export const allFeatures =
  (folders: PageFolders, hooks?: FacadeHooks): CreateFeatures =>
  (parts) => [
    createPagesFeature(parts, folders),
    createSlowLogFeature(parts),
    createMetricsFeature(parts),
    createTracingFeature(parts),
    createUsageFeature(parts),
    createRequestLogFeature(parts),
    createIdempotencyFeature(parts),
    createMcpFeature(parts),
    createTimingFeature(parts),
    createMinClientsFeature(parts),
    createHooksFeature(parts, hooks),
  ];
