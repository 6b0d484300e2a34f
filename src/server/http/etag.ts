/** ETags: by them a client checks whether its copy of a response is still current. */
import { createHash } from 'node:crypto';

/** Weak, because all encodings of a response share it. Responses for one token alone have tags of their own. */
export const etagOf = (body: Buffer | string, token = ''): string =>
  `W/"${createHash('sha256').update(`${token.length} ${token}`).update(body).digest('base64url').slice(0, 22)}"`;

/** Whether If-None-Match has the tag. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  const tags: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || tags.includes(opaque);
}
