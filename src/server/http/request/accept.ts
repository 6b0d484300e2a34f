/** Content negotiation: in which media types a response may be sent. Decided once a request, from all ranges of Accept together. */
import { type MediaRange, isWildcard, parseAccept, specificity } from '../../../lib/media-types.ts';
import { remembering } from '../../../lib/remember.ts';
import { HttpError } from '../response/http-error.ts';

const JSON_TYPES = ['application/json', 'application/graphql-response+json'] as const;

export type JsonType = (typeof JSON_TYPES)[number];

/** The formats of incremental delivery. A client that requests another one could not read it. */
export type IncrementalFormat = '20220824' | 'v0.2';

/** What a client accepts. */
export interface AcceptedTypes {
  /** The preferred type of a whole response; undefined if the client accepts none. */
  json: JsonType | undefined;
  /** The preferred type of a response in parts; undefined if the client prefers it whole. */
  incremental: IncrementalType | undefined;
  /** A page is preferred to JSON. */
  prefersPage: boolean;
  /** So is it, by a browser: the default of some libraries begins with text/html too. */
  isBrowser: boolean;
}

export interface IncrementalType {
  media: 'multipart/mixed' | 'text/event-stream';
  format: IncrementalFormat;
  /** The version that the client named, which the response repeats: some clients choose their parser by it. Undefined without one. */
  spec: string | undefined;
}

/** The parameter of a media type by which clients name a format. */
export const SPECS: Readonly<Record<IncrementalFormat, string>> = {
  '20220824': 'deferSpec=20220824',
  'v0.2': 'incrementalSpec=v0.2',
};
const FORMATS = Object.keys(SPECS) as IncrementalFormat[];
/** If two have the same quality, the first is chosen. */
const INCREMENTAL_TYPES = ['multipart/mixed', 'text/event-stream'] as const;

export const acceptedTypes = remembering((accept): AcceptedTypes => {
  const ranges = parseAccept(accept).filter(isUtf8);
  const json = preferred(JSON_TYPES.map((type) => ({ type, ...bestMatch(type, ranges) })));
  const html = bestMatch('text/html', ranges);
  const prefersPage = html.quality > 0 && compare(html, json ?? NONE) < 0;
  const isBrowser = prefersPage && (!json || bestMatch('application/xhtml+xml', ranges).exactness === EXACT);
  return { json: json?.type, incremental: incrementalType(ranges, json), prefersPage, isBrowser };
});

/** Throws an HttpError if the client accepts no type that a response may have. */
export function checkAcceptable({ json, incremental }: AcceptedTypes): void {
  if (json !== undefined || incremental !== undefined) return;
  throw new HttpError('NOT_ACCEPTABLE', `Accept one of ${[...JSON_TYPES, ...INCREMENTAL_TYPES].join(', ')}.`);
}

/**
 * A client that names such a type at least as high as JSON can join the parts. A wildcard beside other ranges says nothing of that: it is
 * in the default header of many libraries.
 */
function incrementalType(ranges: readonly MediaRange[], json: Match | undefined): IncrementalType | undefined {
  const hasOnlyWildcards = ranges.every(({ type }) => isWildcard(type));
  const [multipart, events] = INCREMENTAL_TYPES.map((media) => {
    const matches = FORMATS.map((format) => ({ media, format, ...bestMatch(media, ranges, format) }));
    return preferred(matches.filter(({ exactness }) => exactness >= EXACT || hasOnlyWildcards || !json));
  });
  const best = events && events.quality > (multipart?.quality ?? 0) ? events : multipart;
  if (!best || best.quality < (json?.quality ?? 0)) return undefined;
  const { media, format, exactness } = best;
  return { media, format, spec: exactness > EXACT ? SPECS[format] : undefined };
}

/** How the best range for a type matches it. */
interface Match {
  quality: number;
  exactness: number;
  position: number;
}

const NONE: Match = { quality: 0, exactness: -1, position: Infinity };
const EXACT = 2;

/** Negative if `a` is preferred: by quality, then the one that is named more specifically, then the one that is named first. */
const compare = (a: Match, b: Match): number =>
  b.quality - a.quality || b.exactness - a.exactness || a.position - b.position;

const preferred = <T extends Match>(matches: readonly T[]): T | undefined =>
  matches.filter(({ quality }) => quality > 0).sort(compare)[0];

/** The most specific range decides the quality of a type (RFC 9110 12.5.1). */
function bestMatch(type: string, ranges: readonly MediaRange[], format?: IncrementalFormat): Match {
  let best: Match = { ...NONE, position: ranges.length };
  for (const [position, range] of ranges.entries()) {
    const exactness = exactnessOf(range, type, format);
    if (exactness !== undefined && exactness > best.exactness) best = { quality: range.quality, exactness, position };
  }
  return best;
}

/** A range without a parameter stands for the older format of parts, which clients that know no other read. */
function exactnessOf({ type: range, params }: MediaRange, type: string, format?: IncrementalFormat) {
  const exactness = specificity(range, type);
  if (exactness === undefined || format === undefined) return exactness;
  const spec = params.find((param) => /^\w*spec=/.test(param));
  if (spec === undefined) return format === '20220824' ? exactness : undefined;
  return spec.replaceAll('"', '') === SPECS[format].toLowerCase() ? EXACT + 1 : undefined;
}

const isUtf8 = ({ params }: MediaRange): boolean => !params.some((param) => /^charset=(?!"?utf-8"?$)/.test(param));
