/**
 * The formats of incremental delivery. In that of 2022 an incremental result has the path and the label of its part; in the current one,
 * `incrementalSpec=v0.2`, each part is announced and named by an id from then on.
 */
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { IncrementalResult, Part } from '../../engine/execute/execution.ts';
import type { Delivery } from '../../engine/execute/incremental.ts';
import type { IncrementalFormat } from '../http/request/accept.ts';

/** One part of a response. */
export interface ResultPart extends ExecutionResult {
  hasNext: boolean;
}

export type ResultParts = AsyncIterable<ResultPart>;

type Encode = (delivery: Delivery, extensions: Record<string, unknown> | undefined) => ResultPart;

interface PartsOptions {
  /** Errors as clients receive them. */
  masked: (errors: readonly GraphQLError[]) => readonly GraphQLError[];
  /** The extensions of the last part. */
  extensions: () => Record<string, unknown> | undefined;
  /** Called with the errors of all parts after the last one, or when the client leaves. */
  onEnd: (errors: readonly GraphQLError[] | undefined) => void;
}

/** The parts of a response as clients receive them. */
export async function* partsForClient(
  deliveries: AsyncIterable<Delivery>,
  encode: Encode,
  { masked, extensions, onEnd }: PartsOptions,
): ResultParts {
  const all: GraphQLError[] = [];
  const maskedIn = <Given extends IncrementalResult | ExecutionResult>(given: Given): Given => {
    if (!given.errors) return given;
    const errors = masked(given.errors);
    all.push(...errors);
    return { ...given, errors };
  };
  try {
    for await (const { initial, results, tooLarge, ...rest } of deliveries) {
      const extensionsOfPart = rest.hasNext ? undefined : extensions();
      const delivery = {
        ...rest,
        results: results.map(maskedIn),
        ...(initial && { initial: maskedIn(initial) }),
        ...(tooLarge && { tooLarge: maskedIn({ errors: [tooLarge] }).errors[0]! }),
      };
      yield encode(delivery, extensionsOfPart);
    }
  } finally {
    onEnd(all.length > 0 ? all : undefined);
  }
}

/** An encoder for one response. */
export const encoderFor = (format: IncrementalFormat): Encode => (format === 'v0.2' ? withIds() : withPaths);

const withPaths: Encode = ({ initial, results, tooLarge, hasNext }, extensions) => ({
  ...initial,
  ...(tooLarge && { errors: [tooLarge] }),
  ...(results.length > 0 && { incremental: results.map(resultWithPath) }),
  hasNext,
  ...(extensions && { extensions }),
});

function resultWithPath({ part: { path, label }, data, items, index, errors }: IncrementalResult): object {
  return {
    ...(items === undefined ? { data } : { items }),
    path: index === undefined ? path : [...path, index],
    label,
    errors,
  };
}

function withIds(): Encode {
  const open = new Map<Part, string>();
  let count = 0;
  return ({ initial, results, announced, tooLarge, hasNext }, extensions) => {
    const pending = announced.map((part) => {
      const id = String(count++);
      open.set(part, id);
      return { id, path: part.path, label: part.label };
    });
    const incremental: object[] = [];
    const completed: object[] = [];
    for (const { part, data, items, errors, isLast } of results) {
      const id = open.get(part)!;
      const isFailed = !(items ?? data);
      if (!isFailed) incremental.push({ id, ...(items ? { items } : { data }), errors });
      if (!isLast) continue;
      open.delete(part);
      completed.push({ id, errors: isFailed ? errors : undefined });
    }
    if (tooLarge) for (const id of open.values()) completed.push({ id, errors: [tooLarge] });
    return {
      ...(initial && { data: initial.data }),
      ...(extensions && { extensions }),
      ...(initial?.errors && { errors: initial.errors }),
      ...(pending.length > 0 && { pending }),
      ...(incremental.length > 0 && { incremental }),
      ...(completed.length > 0 && { completed }),
      hasNext,
    };
  };
}
