/**
 * How a mutation is declared: one input with its rules, one call, one payload. Its name names the types of its input and payload.
 *
 * The order is always the same: check the login, check the input, write once without a retry, invalidate caches. Fields of the payload that
 * the response does not carry are loaded afterwards, if they are selected.
 */
import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { AnswerOf, Endpoint, InputOf } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { FilePart } from '../../upstream/http/multipart.ts';
import type { FilledIn, PatchSource } from '../../upstream/write-guard.ts';
import { CodedRejection, UpstreamRejection, isOutcomeUnknown } from '../../upstream/errors.ts';
import { isPlainObject } from '../../lib/objects.ts';
import { type InputBuilder, builder } from '../builder.ts';
import type { Context } from '../context.ts';
import type { ClientCode } from '../errors/codes.ts';
import { asText } from '../values/decode.ts';
import { sourceIdOf } from '../values/global-id.ts';
import type { FieldBuilder } from './node.ts';
import { writeRuleOf } from '../settle/write-rules.ts';
import { type PictureForm, type PictureInput, pictureParts, pictureViolations } from './picture-upload.ts';
import { type Violation, requireValid, validId, withNul } from '../errors/violations.ts';
import { type Patch, keptOf, readsBefore, showIn, violationsOfGiven } from './patch.ts';

/** Client codes for codes of the service that have a special meaning in one mutation. */
export type ErrorCodes = Readonly<Partial<Record<number, ClientCode>>>;

/** A mutation that is being carried out. */
export interface WriteRun<Out, Input = unknown> {
  /** Makes the declared call, with more members in its input, and pictures. */
  send: (more?: object, pictures?: readonly FilePart[]) => Promise<Out>;
  /** Makes another call. */
  write: <E extends Endpoint>(endpoint: E, input: InputOf<E>, pictures?: readonly FilePart[]) => Promise<AnswerOf<E>>;
  /** Begins the change of what is there already, under its lock: see `isPatch`. Returns the input with what it keeps. */
  change: () => Promise<Input>;
  /** Reads what a payload needs, or these members of it; null if it is absent. */
  read: <E extends Endpoint>(
    endpoint: E,
    input: InputOf<E>,
    members?: readonly string[],
  ) => Promise<AnswerOf<E> | null>;
  /** The id of the target; '' if there is none. */
  id: string;
  viewer: Viewer;
}

/** What the fields of a payload show. */
export interface Written<Result> {
  result: Result;
  /** The id of the target. */
  id: string;
}

export interface Payload<Result> {
  description: string;
  fields: (t: FieldBuilder<Written<Result>>) => FieldMap;
}

/** The values of an input with these fields. */
export type ValuesOf<Make extends (t: InputBuilder, isWhole: true) => InputFieldMap> = InputShapeFromFields<
  ReturnType<Make>
>;

export interface MutationDeclaration<In, Out, Fields extends InputFieldMap, Result, Shown = never> {
  description: string;
  /** The operations, if `endpoint` is not all. */
  upstream?: string;
  endpoint: Endpoint<In, Out>;
  /** The field of the input with the id of a record, and the type of that record. */
  target?: readonly [field: string, type: string];
  /** The fields of the input besides the target. */
  input: { description: string; fields?: (t: InputBuilder) => Fields };
  /** All rules that the input breaks, apart from those of the target, whose id is '' here if it is malformed, and of pictures. */
  check?: (input: InputShapeFromFields<Fields>, id: string) => readonly (Violation | undefined)[];
  /** The input of the call; by default the id of the target. */
  request?: (input: InputShapeFromFields<Fields>, id: string) => In;
  /** By default the call, with all pictures. */
  run?: (run: WriteRun<Out, InputShapeFromFields<Fields>>, input: InputShapeFromFields<Fields>) => Promise<Result>;
  payload: Payload<Result>;
  /**
   * The cache entries to invalidate: `Kind:key` for a record, its path for a list, `Kind` for all records of a kind, the path of an
   * endpoint for all its responses. `nothing`: no query reads what it changes. `made`: the id in the response, undefined if it is unknown.
   */
  invalidates:
    ((id: string, input: InputShapeFromFields<Fields>, made: string | undefined) => readonly string[]) | 'nothing';
  /** A function of whether the record was read, and `refusal` found nothing. */
  errorCodes?: ErrorCodes | ((isRead: boolean) => ErrorCodes);
  /** How pictures are sent, if the input has the field `pictures`. */
  pictures?: PictureForm;
  /** How what the input leaves out is kept; without it, the service clears it. */
  patch?: Patch<InputShapeFromFields<Fields>, Shown> | undefined;
  /** Set if `run` creates, and changes what is there already: whether it then keeps what the input leaves out. */
  isPatch?: (input: InputShapeFromFields<Fields>) => boolean;
  /** What `run` reads before it writes, by its input if that is known. */
  reads?: (input: InputShapeFromFields<Fields> | undefined) => readonly Endpoint[];
  /** The most writes that it makes, by its input if that is known; 1 by default. */
  maxCalls?: number | ((input: InputShapeFromFields<Fields> | undefined) => number);
}

/** Declares a mutation. It is null if the service rejects it. */
export function mutation<In, Out, Fields extends InputFieldMap = Record<never, never>, Result = Out, Shown = never>(
  name: string,
  options: MutationDeclaration<In, Out, Fields, Result, Shown>,
): void {
  const {
    description,
    upstream,
    endpoint,
    target,
    input,
    payload,
    invalidates,
    patch,
    isPatch,
    reads,
    maxCalls = 1,
  } = options;
  const keeps = (input: InputShapeFromFields<Fields> | undefined) => !input || !isPatch || isPatch(input);
  const typeName = name[0]!.toUpperCase() + name.slice(1);
  const inputName = `${typeName}Input`;
  const inputType = builder.inputType(inputName, {
    description: input.description,
    fields: (t) => ({ ...(target && targetField(t, target)), ...input.fields?.(t) }),
  });
  const type = builder.objectRef<Written<Result>>(`${typeName}Payload`).implement(payload);
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      nullable: true,
      nullIf: false,
      ...(upstream !== undefined && { upstream }),
      writeEndpoint: endpoint,
      invalidates,
      maxCalls: typeof maxCalls === 'number' && !patch ? maxCalls : (args) => writesOf(maxCalls, inputIn(args)),
      ...(reads && { readsBefore: (args) => reads(inputIn(args)) }),
      ...(patch && {
        uncleared: isPatch ? [] : patch.columns.flatMap(({ fields, isClearable }) => (isClearable ? [] : fields)),
        readsBefore: (args) => (keeps(inputIn(args)) ? readsBefore(patch as never, inputIn(args)) : []),
      }),
      args: { input: t.arg({ type: inputType, required: true, description: 'The input.' }) },
      // Its call is declared as `writeEndpoint`, so it may use the whole context.
      resolve: (_, args, context, info) => written(options, inputName, args.input as never, context as Context, info),
    }),
  );
}

/** The input in the arguments of a document; undefined if they are not valid, or not known yet. */
function inputIn(args: object | undefined): never | undefined {
  const { input } = (args ?? {}) as { input?: never };
  return isPlainObject(input) ? input : undefined;
}

const writesOf = <In>(maxCalls: number | ((input: In | undefined) => number), input: In | undefined): number =>
  typeof maxCalls === 'number' ? maxCalls : maxCalls(input);

const targetField = (t: InputBuilder, [field, type]: readonly [string, string]) => ({
  [field]: t.id({ required: true, description: `Global or bare id of the ${type.toLowerCase()}.` }),
});

const targetIn = (input: Readonly<Record<string, string>>, [field, type]: readonly [string, string]): string =>
  sourceIdOf(type, input[field]!, field);

async function written<In, Out, Fields extends InputFieldMap, Result, Shown>(
  options: MutationDeclaration<In, Out, Fields, Result, Shown>,
  inputName: string,
  given: InputShapeFromFields<Fields>,
  context: Context,
  { path, schema }: GraphQLResolveInfo,
): Promise<Written<Result>> {
  const { endpoint, target, check, request, run, errorCodes, pictures: form, invalidates, isPatch } = options;
  const patch = isPatch?.(given) === false ? undefined : options.patch;
  const { upstream, viewer, maxPictures } = context;
  const pictures = (given as { pictures?: readonly PictureInput[] | null }).pictures ?? [];
  let id = '';
  let input = given;
  let filled: FilledIn | undefined;
  let [mayBeDone, isRead] = [false, false];
  let made: string | undefined;
  const write: WriteRun<Out>['write'] = async (endpoint, values, parts) => {
    if (filled?.isUnchanged) return filled.known!.record as never;
    const settling = { rule: writeRuleOf(endpoint), onLate, ...filled };
    filled = undefined; // it is of the first write alone
    try {
      const answer = await upstream.write(endpoint, values as object, path, parts, settling);
      mayBeDone = true;
      made = madeIn(answer);
      return answer as never;
    } catch (error) {
      if (isOutcomeUnknown(error)) mayBeDone = true;
      throw error;
    }
  };
  /** The write ended after its operation: what was read in between is of before it. */
  const onLate = () => {
    if (invalidates !== 'nothing') void upstream.invalidate(invalidates(id, input, undefined));
  };
  const allParts = () => (form && pictures.length > 0 ? pictureParts(pictures, form) : undefined);
  const send: WriteRun<Out>['send'] = (more, parts = allParts()) =>
    write(endpoint, { ...(request ? request(input, id) : { id }), ...more } as never, parts);
  const read: WriteRun<Out>['read'] = async (endpoint, values, members) =>
    await upstream.responses.load(endpoint, values as object, members, path);
  const change: WriteRun<Out, InputShapeFromFields<Fields>>['change'] = async () => {
    if (!patch) return input;
    const show = showIn(schema, inputName);
    const fillIn = (reads: PatchSource) => keptOf(patch, given, { id, viewer, showIn: show, ...reads });
    filled = await upstream.beginChange(path, `${target![1]} ${id}`, fillIn);
    isRead = filled.known !== undefined;
    input = { ...given, ...filled.kept };
    if (!filled.isUnchanged) requireValid(check?.(input, id) ?? []);
    return input;
  };
  try {
    upstream.calls.requireLogin();
    requireValid([
      ...withNul(given),
      target && validId(target[0], () => (id = targetIn(given as never, target))),
      ...violationsOfGiven(patch, given, check?.(given, id) ?? []),
      ...(form && pictures.length > 0 ? pictureViolations(pictures, form, maxPictures) : []),
    ]);
    if (!isPatch) await change();
    const result = run ? await run({ send, write, change, read, id, viewer }, input) : ((await send()) as Result);
    return { result, id };
  } catch (error) {
    const codes = typeof errorCodes === 'function' ? errorCodes(isRead) : errorCodes;
    throw withClientCode(error, { ...codes, ...(pictures.length > 0 && form?.errorCodes) });
  } finally {
    upstream.endChange();
    if (mayBeDone && invalidates !== 'nothing') await upstream.invalidate(invalidates(id, input, made));
  }
}

const madeIn = (answer: unknown): string | undefined => (isPlainObject(answer) && asText(answer.id)) || undefined;

/** The rejection with the client code that its service code has in this mutation. */
export function withClientCode(error: unknown, codes: ErrorCodes): unknown {
  const name = error instanceof UpstreamRejection ? codes[error.details.code ?? NaN] : undefined;
  return name === undefined ? error : new CodedRejection((error as UpstreamRejection).details, name);
}
