/** What a client takes, by its Accept header. Yoga chooses among it; but that nothing of it can be had is found out here, before a run. */
import { GraphQLError } from 'graphql';
import { HttpError } from './http-error.ts';

const inPieces = ['multipart/mixed', 'text/event-stream'];
const inAnyForm = ['application/json', 'application/graphql-response+json', ...inPieces];

/** Pieces have the shape of this draft: who asks for that of another could not read them. */
const DRAFT = 'deferspec=20220824';

export const acceptsIncrementalDelivery = (accept: string | undefined): boolean =>
  rangesOf(accept).some(
    ({ type, params }) =>
      covers(type, inPieces) && !params.some((each) => /^(?:defer|incremental)spec=/.test(each) && each !== DRAFT),
  );

export const incrementalDeliveryNotAccepted = new GraphQLError(
  'With @defer or @stream the answer comes in pieces: accept multipart/mixed (deferSpec=20220824) or text/event-stream.',
  { extensions: { code: 'NOT_ACCEPTABLE', http: { status: 406 } } },
);

/** Refuses who takes none of the forms that an answer may have. */
export function checkAcceptable(accept: string | undefined): void {
  if (rangesOf(accept).some(({ type }) => covers(type, inAnyForm))) return;
  throw new HttpError(406, 'NOT_ACCEPTABLE', `Accept one of ${inAnyForm.join(', ')}.`);
}

interface Range {
  type: string;
  params: readonly string[];
}

function rangesOf(accept: string | undefined): Range[] {
  return (accept || '*/*')
    .replaceAll(/\s/g, '')
    .toLowerCase()
    .split(',')
    .map((range) => {
      const [type = '', ...params] = range.split(';');
      return { type, params };
    })
    .filter(({ params }) => !params.some((each) => /^q=0(?:\.0*)?$/.test(each) || /^charset=(?!utf-8$)/.test(each)));
}

function covers(range: string, types: readonly string[]): boolean {
  if (range === '*/*') return true;
  return types.some((type) => range === type || range === `${type.slice(0, type.indexOf('/'))}/*`);
}
