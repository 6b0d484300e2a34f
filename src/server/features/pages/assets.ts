/** Web pages and their files. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { lazily } from '../../../lib/promises.ts';
import { preferredEncoding } from '../../http/response/compression.ts';
import type { Exchange } from '../../http/exchange.ts';
import { createStaticRoute, onlyRead } from '../../http/response/static-response.ts';
import { sendBody, sendCompressed } from '../../http/response/send.ts';

/**
 * The handler of a page. Browsers store it, and ask each time whether it has changed. A browser loads and runs only what the `sources` of
 * its content security policy name.
 */
export function createPage(html: string, sources: readonly string[]): (exchange: Exchange) => void {
  const policy = ["default-src 'none'", ...sources, "base-uri 'none'", "frame-ancestors 'none'"];
  if (!sources.some((source) => source.startsWith('form-action'))) policy.push("form-action 'none'");
  const headers = { 'content-security-policy': policy.join('; '), vary: 'Accept' };
  return createStaticRoute('text/html; charset=utf-8', () => html, headers);
}

/** Names a script or style of the page itself. */
export const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Data for the scripts of a page. `<` is escaped, so that no text of it can end the element. */
export const jsonElement = (value: object): string =>
  `<script type="application/json" id="settings">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`;

/**
 * The handler of a file that the folder has as `.br`. Browsers store it: its name changes with its content. It is read once and kept, so
 * that many requests at once take no more memory than one.
 */
export function createFileRoute(folder: string, name: string): (exchange: Exchange) => void {
  const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
  const br = lazily(() => readFileSync(join(folder, `${name}.br`)));
  const plain = lazily(() => brotliDecompressSync(br()));
  return (exchange) => {
    onlyRead(exchange.request);
    exchange.headers.push('content-type', `${type}; charset=utf-8`, 'vary', 'Accept-Encoding');
    exchange.headers.push('cache-control', 'public, max-age=31536000, immutable');
    const encoding = preferredEncoding(exchange.request.headers['accept-encoding']);
    if (encoding === 'br') sendCompressed(exchange, 200, exchange.headers, { encoding, bytes: br() });
    else sendBody(exchange, 200, exchange.headers, plain(), true);
  };
}
