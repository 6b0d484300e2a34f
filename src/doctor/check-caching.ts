/** What the service's headers say about caching, and what becomes of its answers. */
import { isForEverybody } from '../api/endpoint.ts';
import type { Config } from '../config/settings.ts';
import { isSuccess } from '../inspect/reads.ts';
import type { ServiceRead } from '../inspect/service-reader.ts';
import { cacheabilityOf, forbiddingWords } from '../upstream/cache/caching-header.ts';
import { isCached } from '../upstream/cache/lifetime.ts';
import { type Diagnosis, ok, warning } from './diagnosis.ts';

export function checkCaching(
  reads: readonly ServiceRead[],
  { upstreamCache: mode, recordTtlSeconds }: Pick<Config, 'upstreamCache' | 'recordTtlSeconds'>,
): Diagnosis {
  const check = 'caching';
  if (recordTtlSeconds === 0) return ok(check, 'RECORD_TTL_SECONDS=0: nothing is cached');
  const open = reads.filter((read) => isSuccess(read) && isForEverybody(read.endpoint));
  if (open.length === 0)
    return warning(check, 'no public answer, so nothing is known of its headers', 'See the lines of the upstreams.');
  const found = open.map(({ endpoint, caching = {} }) => {
    // What a trace or an embedding program adds to requests is not known here.
    const reuse = cacheabilityOf(caching, { share: endpoint.share, isPersonal: false, mode, sent: [] });
    const isKept = isCached(endpoint, reuse, recordTtlSeconds);
    return { words: forbiddingWords(caching, reuse, isKept), isKept };
  });
  const uncached = found.filter(({ isKept }) => !isKept);
  const forbidding = found.filter(({ words }) => words.length > 0);
  const wordsOf = (some: typeof found) => [...new Set(some.flatMap(({ words }) => words))];
  if (forbidding.length === 0) return ok(check, `the headers of ${open.length} public answers forbid no caching`);
  const said = `${forbidding.length} of ${open.length} public answers forbid or limit caching (${wordsOf(found).join(', ')})`;
  if (uncached.length === 0)
    return ok(
      check,
      `${said}; UPSTREAM_CACHE=${mode}: they are cached ${mode === 'relaxed' ? 'all the same' : ''}`.trim(),
    );
  return warning(
    check,
    `${said}, and ${uncached.length} are not cached (${wordsOf(uncached).join(', ')}): each read of them is a call`,
    `If this is not meant, change these headers at the service. ${mode === 'strict' ? 'UPSTREAM_CACHE=relaxed ignores defaults of its framework, ' : ''}RECORD_TTL_SECONDS replaces times, and nothing no-store and Vary.`,
  );
}
