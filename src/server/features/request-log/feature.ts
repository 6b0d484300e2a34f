/** The request log, and the log of slow operations. */
import type { Feature, FeatureParts } from '../../feature.ts';
import { createRequestLog } from './request-log.ts';
import { createSlowLog } from './slow-log.ts';

export const createSlowLogFeature = ({ config, log }: FeatureParts): Feature => ({
  onEnd: createSlowLog(log, config.slowOperationMs),
});

export const createRequestLogFeature = ({ config, log }: FeatureParts): Feature => ({
  onEnd: createRequestLog(log, config.requestLog),
});
