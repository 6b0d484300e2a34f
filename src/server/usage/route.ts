/** The route /usage: for operators. In production it exists only with a token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Config } from '../../config/settings.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/response/http-error.ts';
import { sendJson } from '../http/response/static-response.ts';
import type { UsageReport } from './report.ts';

export function createUsageRoutes(
  { production, usageToken }: Config,
  report: () => UsageReport | Promise<UsageReport>,
): Record<string, (exchange: Exchange) => Promise<void>> {
  if (production && usageToken === undefined) return {};
  const answer = async (exchange: Exchange): Promise<void> => {
    const { authorization = '' } = exchange.request.headers;
    if (usageToken !== undefined && !isEqual(authorization, `Bearer ${usageToken}`))
      throw new HttpError('UNAUTHENTICATED', 'Send the token of USAGE_TOKEN.', {
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
      });
    sendJson(exchange, 200, await report());
  };
  return { '/usage': answer };
}

/** In a time that does not depend on the texts. */
function isEqual(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(first!, second!);
}
