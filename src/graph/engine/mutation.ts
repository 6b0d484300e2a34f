/**
 * How a mutation is declared: one input with its rules, one call, one payload.
 *
 * The order is always the same: check the login, check the input, write once without a retry, invalidate caches. Fields of the payload that
 * the response does not carry are loaded afterwards, if they are selected.
 */
import { type FieldRef, type InputRef, MutationFieldBuilder, type ObjectRef, type SchemaTypes } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { AnswerOf, Endpoint, InputOf } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { FilePart } from '../../upstream/http/multipart.ts';
import { type FailureCode, CodedRejection, UpstreamFailure, UpstreamRejection } from '../../upstream/errors.ts';
import type { Context } from './builder.ts';
import type { ClientCode } from '../errors/codes.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { type PictureInput, discardPictures } from '../types/picture-upload.ts';
import { type Violation, validId, violationError } from '../errors/violations.ts';

/** Makes the call of a mutation. */
export type Write = <E extends Endpoint>(
  endpoint: E,
  input: InputOf<E>,
  pictures?: AsyncIterable<FilePart>,
) => Promise<AnswerOf<E>>;

/** Client codes for codes of the service that have a special meaning in one mutation. */
export type ErrorCodes = Readonly<Partial<Record<number, ClientCode>>>;

/** Reads what a payload needs; null if it is absent. */
export type Read = <E extends Endpoint>(endpoint: E, input: InputOf<E>) => Promise<AnswerOf<E> | null>;

/** A mutation that is being carried out. */
export interface WriteRun {
  write: Write;
  read: Read;
  /** The id of its target; '' if it has none. */
  id: string;
  viewer: Viewer;
}

export interface WriteOptions<Types extends SchemaTypes, Payload, Input> {
  /** The endpoint that it calls, for the cost. */
  endpoint: Endpoint;
  payload: ObjectRef<Types, Payload>;
  input: InputRef<Input>;
  /** The field of the input with the id of a record, and the type of that record. */
  target?: readonly [field: keyof Input & string, type: string];
  description: string;
  /** All rules that the input breaks, apart from the id of the target, which is '' here if it is malformed. */
  check?: (input: Input, context: Context, id: string) => readonly (Violation | undefined)[];
  run: (run: WriteRun, input: Input) => Promise<Payload>;
  /**
   * The cache entries to invalidate: `Kind:key` for a record, its path for a list, `Kind` for all records of a kind, the path of an
   * endpoint for all its responses.
   */
  invalidates: (id: string, input: Input) => readonly string[];
  errorCodes?: ErrorCodes | ((input: Input) => ErrorCodes);
  /** The most calls that it makes; 1 by default. */
  maxCalls?: number;
  /** The files in an input. Those that no call takes are discarded. */
  pictures?: (input: Input) => readonly PictureInput[];
}

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- Pothos is extended by merging into its namespace
  export namespace PothosSchemaTypes {
    // eslint-disable-next-line @typescript-eslint/no-unused-vars -- a merged declaration repeats every parameter
    interface MutationFieldBuilder<Types extends SchemaTypes, ParentShape> {
      /** A mutation. Null if the service rejects it. */
      write<Payload, Input>(options: WriteOptions<Types, Payload, Input>): FieldRef<Types, Payload | null>;
    }
  }
}

// Pothos is extended through the prototype of its builder; the signature is declared above.
const fields = MutationFieldBuilder.prototype as unknown as Record<string, unknown> & {
  createField(options: object): unknown;
  arg(options: object): unknown;
};

fields.write = function (this: typeof fields, options: WriteOptions<SchemaTypes, object, object>) {
  const { endpoint, payload, input, description, maxCalls = 1 } = options;
  return this.createField({
    type: payload,
    description,
    nullable: true,
    nullIf: false,
    writeEndpoint: endpoint,
    maxCalls,
    args: { input: this.arg({ type: input, required: true, description: 'The input.' }) },
    resolve: (_: unknown, args: { input: object }, context: Context, info: GraphQLResolveInfo) =>
      written(options, args.input, context, info),
  });
};

async function written<Payload, Input>(
  { target, check, run, invalidates, errorCodes, pictures }: WriteOptions<SchemaTypes, Payload, Input>,
  input: Input,
  context: Context,
  { path }: GraphQLResolveInfo,
): Promise<Payload> {
  const { upstream, viewer } = context;
  let id = '';
  let mayBeDone = false;
  const write: Write = async (endpoint, values, pictures) => {
    try {
      const answer = await upstream.write(endpoint, values as object, path, pictures);
      mayBeDone = true;
      return answer as never;
    } catch (error) {
      if (error instanceof UpstreamFailure && unknownOutcomes.includes(error.code)) mayBeDone = true;
      throw error;
    }
  };
  try {
    upstream.requireLogin();
    const malformed = target && validId(target[0], () => (id = sourceIdOf(target[1], input[target[0]] as string)));
    const [first, ...more] = [malformed, ...(check?.(input, context, id) ?? [])].filter((each) => each !== undefined);
    if (first) throw violationError([first, ...more]);
    const read: Read = async (endpoint, values) =>
      (await upstream.responses.load(endpoint, values as object, undefined, path)) as never;
    return await run({ write, read, id, viewer }, input);
  } catch (error) {
    throw withClientCode(error, typeof errorCodes === 'function' ? errorCodes(input) : errorCodes);
  } finally {
    discardPictures(pictures?.(input) ?? []);
    if (mayBeDone) await upstream.invalidate(invalidates(id, input));
  }
}

/** Errors after which the write may have been carried out: no response, or one that cannot be read. */
const unknownOutcomes: readonly FailureCode[] = ['UPSTREAM_RESULT_UNKNOWN', 'UPSTREAM_INVALID_RESPONSE'];

/** The rejection with the client code that its service code has in this mutation. */
export function withClientCode(error: unknown, codes: ErrorCodes | undefined): unknown {
  const name =
    error instanceof UpstreamRejection && error.details.code !== undefined ? codes?.[error.details.code] : undefined;
  return name === undefined ? error : new CodedRejection((error as UpstreamRejection).details, name);
}
