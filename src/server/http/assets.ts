/** Web pages and their files. */
import { etagOf } from './etag.ts';
import type { Exchange } from './exchange.ts';
import { sendKept } from './read-only.ts';

export interface Page {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A page made at the start. Browsers store it, and ask each time whether it has changed. */
export function createPage(html: string, policy: string): Page {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    etag: etagOf(html),
    vary: 'Accept',
  };
  return { headers, body: Buffer.from(html) };
}

export const sendPage = (exchange: Exchange, { headers, body }: Page): void => sendKept(exchange, headers, body);
