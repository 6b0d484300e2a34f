/** Content security policies of the web pages: a browser loads and runs only what they name. */
import { createHash } from 'node:crypto';

export const contentPolicy = (sources: readonly string[]): string =>
  ["default-src 'none'", ...sources, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ');

/** Names a script or style of the page itself. */
export const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
