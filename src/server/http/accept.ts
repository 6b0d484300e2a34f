/** Content negotiation: in which media type a response may be sent. */
import { GraphQLError } from 'graphql';
import { type MediaRange, parseAccept, specificity } from '../../lib/media-types.ts';
import { remembering } from '../../lib/remember.ts';
import { HttpError } from './http-error.ts';

const JSON_TYPES = ['application/json', 'application/graphql-response+json'] as const;
const INCREMENTAL_TYPES = ['multipart/mixed', 'text/event-stream'];

export type JsonType = (typeof JSON_TYPES)[number];

interface Negotiated {
  /** The preferred type for a complete response; undefined if the client accepts none. */
  json: JsonType | undefined;
  acceptsIncremental: boolean;
  isAcceptable: boolean;
}

/** Incremental delivery has the format of this draft. A client that requests another one could not read it. */
const DRAFT = 'deferspec=20220824';

export const incrementalDeliveryNotAccepted = new GraphQLError(
  'A response with @defer or @stream is delivered incrementally. Accept multipart/mixed (deferSpec=20220824) or text/event-stream.',
  { extensions: { code: 'NOT_ACCEPTABLE', http: { status: 406 } } },
);

export const negotiateJson = (accept: string | undefined): JsonType | undefined => negotiate(accept).json;

export const acceptsIncrementalDelivery = (accept: string | undefined): boolean => negotiate(accept).acceptsIncremental;

/** Throws an HttpError if the client accepts no type that a response may have. */
export function checkAcceptable(accept: string | undefined): void {
  if (negotiate(accept).isAcceptable) return;
  throw new HttpError(406, 'NOT_ACCEPTABLE', `Accept one of ${[...JSON_TYPES, ...INCREMENTAL_TYPES].join(', ')}.`);
}

const negotiate = remembering((accept): Negotiated => {
  const ranges = parseAccept(accept).filter(isUtf8);
  const acceptable = ranges.filter(({ quality }) => quality > 0);
  const incremental = acceptable.filter(({ type }) => matchesAny(type, INCREMENTAL_TYPES));
  const json = preferredJson(ranges);
  return {
    json,
    acceptsIncremental: incremental.some(({ params }) => !params.some(isOtherDraft)),
    isAcceptable: json !== undefined || incremental.length > 0,
  };
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

const isOtherDraft = (param: string): boolean => /^(?:defer|incremental)spec=/.test(param) && param !== DRAFT;

const matchesAny = (range: string, types: readonly string[]): boolean =>
  types.some((type) => specificity(range, type) !== undefined);
