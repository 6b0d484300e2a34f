/** Web pages and their files. */
import { createHash } from 'node:crypto';
import type { Exchange } from './exchange.ts';
import { onlyRead, sendRead } from './read-only.ts';

export interface Page {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A page made at the start. Browsers store it, and ask each time whether it has changed. */
export function createPage(html: string, policy: string): Page {
  const hash = createHash('sha256').update(html).digest('base64url').slice(0, 16);
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    etag: `W/"${hash}"`,
    vary: 'Accept',
  };
  return { headers, body: Buffer.from(html) };
}

export function sendPage(exchange: Exchange, { headers, body }: Page): void {
  const { request, response } = exchange;
  onlyRead(request);
  if (!request.headers['if-none-match']?.includes(headers.etag!)) return sendRead(exchange, 200, headers, body);
  exchange.setHeaders();
  response.writeHead(304, headers).end();
}
