import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { readConfig } from '../../src/config/read.ts';
import { checkCaching } from '../../src/doctor/check-caching.ts';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { createServiceReader } from '../../src/inspect/service-reader.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { hostile, json } from '../support/hostile.ts';

const past = 'Sun, 1 Jan 2006 01:00:00 GMT';
const soon = new Date(Date.now() + 86_400_000).toUTCString();

/** Headers of a book, and the words by which they are named where they keep it out of the cache. */
const headers: Record<string, string>[] = [
  {},
  { 'cache-control': 'max-age=0' },
  { 'cache-control': 's-maxage=0' },
  { 'cache-control': 'max-age=0, must-revalidate' },
  { 'cache-control': 'max-age=60, must-revalidate' },
  { 'cache-control': 'must-revalidate' },
  { 'cache-control': 'max-age=60, private' },
  { 'cache-control': 'no-cache' },
  { 'cache-control': 'no-store' },
  { 'cache-control': 'must-revalidate, no-cache, private', expires: past },
  { expires: past },
  { expires: soon },
  { expires: '0' },
  { age: '90000' },
  { age: '10' },
  { age: '60', 'cache-control': 'max-age=60' },
  { age: '90000', 'cache-control': 'no-cache' },
  { vary: '*' },
  { vary: 'Authorization' },
  { vary: 'Accept-Encoding, Cookie' },
];

describe.each(['relaxed', 'strict'])('with UPSTREAM_CACHE=%s', (mode) => {
  describe.each([undefined, '600'])('and RECORD_TTL_SECONDS=%s', (ttl) => {
    test.each(headers)('what the doctor says of %j is what happens to a book', async (sent) => {
      const service = await hostile(json('{"id":"7","title":"x"}', 200, sent));
      const config = {
        ...readConfig({ UPSTREAM_CACHE: mode, ...(ttl !== undefined && { RECORD_TTL_SECONDS: ttl }) }),
        ...{ baseUrl: service.url, eventBaseUrl: service.url, readAttempts: 1 },
      };
      const upstream = createUpstream(catalogService, config);
      const read = () =>
        upstream
          .forOperation({ authorization: undefined, address: '', requestId: 'x' }, createCancellationToken())
          .records.load(
            'Book',
            { endpoint: bookEndpoints.byId, input: (id) => ({ id }) },
            '7',
            ['title'],
            {},
            undefined,
          );
      await read();
      await read();
      await upstream.close();
      const isCached = service.requests.length === 1;
      const reader = createServiceReader(config);
      await reader.read(bookEndpoints.byId, { id: '7' });
      await reader.close();

      const { status, message } = checkCaching(reader.reads, config);
      expect(status).toBe(isCached ? 'ok' : 'warning');
      expect(message.includes('not cached')).toBe(!isCached);
      const counted = Object.values(upstream.notStored()).reduce((sum, count) => sum + count, 0);
      expect(counted).toBe(isCached ? 0 : 2);
    });
  });
});
