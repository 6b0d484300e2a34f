/** Incremental delivery: which parts of a response may still be sent. */
import type { ExecutionResult, GraphQLError } from 'graphql';

export type PathKey = string | number;

export interface IncrementalResult extends ExecutionResult {
  hasNext?: boolean;
  incremental?: readonly Patch[];
}

/** Fields of an object (`data`) or items of a list (`items`), to be added at a path. */
export interface Patch {
  path?: readonly PathKey[];
  label?: string;
  data?: unknown;
  items?: readonly unknown[] | null;
  errors?: readonly GraphQLError[];
}

/**
 * Leaves out patches whose position is not in what was sent before. The executor still produces them if an error nulls an object while
 * its parts are loaded; the specification forbids to send them, and a client cannot merge them.
 */
export async function* mergeableOnly(results: AsyncIterable<IncrementalResult>): AsyncGenerator<IncrementalResult> {
  const sent = new SentData();
  for await (const result of results) {
    if (!result.incremental) {
      if (result.data !== undefined) sent.add([], result.data);
      yield result;
      continue;
    }
    const incremental = result.incremental.filter((patch) => sent.addPatch(patch));
    if (incremental.length > 0) yield { ...result, incremental };
    else if (!result.hasNext) yield { hasNext: false };
  }
}

/** The data of one response that was sent so far. */
class SentData {
  /** By the path where they were added. */
  private readonly parts = new Map<string, unknown[]>();

  add(path: readonly PathKey[], data: unknown): void {
    const key = path.join('.');
    const parts = this.parts.get(key);
    if (parts) parts.push(data);
    else this.parts.set(key, [data]);
  }

  /** False if the client has nothing to which the patch could be added. */
  addPatch({ path = [], data, items }: Patch): boolean {
    const isOfList = items !== undefined;
    if (!this.has(isOfList ? path.slice(0, -1) : path)) return false;
    if (!isOfList) this.add(path, data);
    else items?.forEach((item, at) => this.add([...path.slice(0, -1), Number(path.at(-1)) + at], item));
    return true;
  }

  /** Whether there is an object or a list at the path, and no part that was sent is null there or above. */
  private has(path: readonly PathKey[]): boolean {
    let isThere = false;
    for (let length = 0; length <= path.length; length++) {
      for (const part of this.parts.get(path.slice(0, length).join('.')) ?? []) {
        if (part === null) continue; // a deferred part that failed; what else was sent of its object stays
        const found = valueAt(part, path.slice(length));
        if (found === null) return false;
        isThere ||= found !== undefined;
      }
    }
    return isThere;
  }
}

function valueAt(data: unknown, path: readonly PathKey[]): unknown {
  let found = data;
  for (const key of path) {
    if (found === null || found === undefined) return found;
    found = (found as Record<PathKey, unknown>)[key];
  }
  return found;
}
