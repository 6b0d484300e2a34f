/** Content negotiation: in which media type a response may be sent. */
import { type MediaRange, parseAccept, specificity } from '../../lib/media-types.ts';
import { remembering } from '../../lib/remember.ts';
import { HttpError } from './http-error.ts';

const JSON_TYPES = ['application/json', 'application/graphql-response+json'] as const;
const INCREMENTAL_TYPES = ['multipart/mixed', 'text/event-stream'];

export type JsonType = (typeof JSON_TYPES)[number];

/** The formats of incremental delivery. A client that requests another one could not read it. */
export type IncrementalFormat = '20220824' | 'v0.2';
const FORMATS = new Map<string, IncrementalFormat>([
  ['deferspec=20220824', '20220824'],
  ['incrementalspec=v0.2', 'v0.2'],
]);

/** The preferred type for a complete response; undefined if the client accepts none. */
export const negotiateJson = (accept: string | undefined): JsonType | undefined => negotiate(accept).json;

/** The preferred format of incremental delivery; undefined if the client accepts none. */
export const incrementalFormat = (accept: string | undefined): IncrementalFormat | undefined =>
  negotiate(accept).incremental;

/** Throws an HttpError if the client accepts no type that a response may have. */
export function checkAcceptable(accept: string | undefined): void {
  const { json, incremental } = negotiate(accept);
  if (json === undefined && incremental === undefined)
    throw new HttpError(406, 'NOT_ACCEPTABLE', `Accept one of ${[...JSON_TYPES, ...INCREMENTAL_TYPES].join(', ')}.`);
}

const negotiate = remembering((accept) => {
  const ranges = parseAccept(accept).filter(isUtf8);
  const incremental = ranges
    .filter(
      ({ type, quality }) => quality > 0 && INCREMENTAL_TYPES.some((each) => specificity(type, each) !== undefined),
    )
    .sort((a, b) => b.quality - a.quality);
  const format = incremental.map(formatOf).find((each) => each !== undefined);
  return { json: preferredJson(ranges), incremental: format };
});

/** The type of the highest quality; of equal quality the one that is named more specifically, then the one that is named first. */
function preferredJson(ranges: readonly MediaRange[]): JsonType | undefined {
  const rated = JSON_TYPES.map((type) => ({ type, ...bestMatch(type, ranges) })).filter(({ quality }) => quality > 0);
  rated.sort((a, b) => b.quality - a.quality || b.exactness - a.exactness || a.position - b.position);
  return rated[0]?.type;
}

/** The most specific range decides the quality of a type. */
function bestMatch(type: string, ranges: readonly MediaRange[]) {
  let best = { quality: 0, exactness: -1, position: ranges.length };
  for (const [position, range] of ranges.entries()) {
    const exactness = specificity(range.type, type);
    if (exactness !== undefined && exactness > best.exactness) best = { quality: range.quality, exactness, position };
  }
  return best;
}

const isUtf8 = ({ params }: MediaRange): boolean => !params.some((param) => /^charset=(?!"?utf-8"?$)/.test(param));

/** Without a parameter: the older format, which clients that know no other read. */
function formatOf({ params }: MediaRange): IncrementalFormat | undefined {
  const spec = params.find((param) => /^(?:defer|incremental)spec=/.test(param));
  return spec === undefined ? '20220824' : FORMATS.get(spec.replaceAll('"', ''));
}
