/** Counts of operations by client, and the route /usage: for operators. In production it exists only with a token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Feature, FeatureParts } from '../../feature.ts';
import type { Exchange } from '../../http/exchange.ts';
import { HttpError } from '../../http/response/http-error.ts';
import { sendJson } from '../../http/response/static-response.ts';
import { createUsage } from './usage.ts';

export function createUsageFeature({ config, isKnownName }: FeatureParts): Feature {
  if (!config.usage) return {};
  const usage = createUsage(isKnownName);
  const { production, usageToken } = config;
  if (production && usageToken === undefined) return { onEnd: usage.onEnd };
  const handler = async (exchange: Exchange): Promise<void> => {
    const { authorization = '' } = exchange.request.headers;
    if (usageToken !== undefined && !isEqual(authorization, `Bearer ${usageToken}`))
      throw new HttpError('UNAUTHENTICATED', 'Send the token of USAGE_TOKEN.', {
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
      });
    sendJson(exchange, 200, usage.report());
  };
  return { routes: { '/usage': { handler, audience: 'operator' } }, onEnd: usage.onEnd };
}

/** In a time that does not depend on the texts. */
function isEqual(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(first!, second!);
}
