/** Runs operations by calling the pipeline or by HTTP requests, and reads their responses. */
import { type DocumentNode, GraphQLError, parse } from 'graphql';
import type { Outcome } from '../../src/server/graphql/outcome.ts';
import type { OperationRequest } from '../../src/server/graphql/request.ts';
import { acceptedTypes } from '../../src/server/http/request/accept.ts';
import { type CancellationToken, createCancellationToken, cancel } from '../../src/lib/cancellation.ts';
import type { CaseOperation } from './generate-case.ts';
import type { Shown } from './invariants.ts';
import { type Product, after } from './product.ts';
import { tokenOf } from './world.ts';

export const tokenFor = ({ person }: CaseOperation): string | undefined =>
  person === null ? undefined : tokenOf(person);

/** Numbers of upstream calls of an operation, as returned for `x-explain: plan`. */
export interface Range {
  min: number;
  likely: number;
  max: number;
  /** Set if the operation is rejected, because it makes more calls. */
  limit?: number | undefined;
}

export async function planOf(product: Product, operation: CaseOperation): Promise<Range | undefined> {
  const { pipeline } = product;
  const prepared = pipeline.prepare(operation.document, undefined);
  const request = { ...requestOf(operation, 'plan', createCancellationToken()), explain: 'plan' };
  const { result } = await pipeline.run(prepared, request);
  const { extensions } = result as { extensions?: { upstream?: Range; limit?: number } };
  return extensions?.upstream && { ...extensions.upstream, limit: extensions.limit };
}

function requestOf(operation: CaseOperation, requestId: string, cancellation: CancellationToken): OperationRequest {
  const token = tokenFor(operation);
  return {
    authorization: token && `Bearer ${token}`,
    explain: undefined,
    address: '127.0.0.1',
    requestId,
    isReload: operation.client.isReload,
    incremental: acceptedTypes(acceptOf(operation)).incremental,
    variables: operation.variables,
    cancellation,
  };
}

/** The response of an operation, with incremental parts merged; undefined if its client left. */
export async function execute(
  product: Product,
  operation: CaseOperation,
  requestId: string,
): Promise<Shown | undefined> {
  return operation.client.via === 'pipeline'
    ? atPipeline(product, operation, requestId)
    : byRequest(product, operation, requestId);
}

/** The first validation error of a document, if any. Such a case tests nothing. */
export function wrongWith({ pipeline }: Product, { document }: CaseOperation): string | undefined {
  return pipeline.prepare(document, undefined).errors?.[0]?.message;
}

async function atPipeline(
  { pipeline }: Product,
  operation: CaseOperation,
  requestId: string,
): Promise<Shown | undefined> {
  const cancellation = createCancellationToken();
  const { leavesAfter } = operation.client;
  let hasLeft = false;
  if (leavesAfter !== undefined)
    after(leavesAfter, () => {
      hasLeft = true;
      cancel(cancellation, new Error('The client disconnected.'));
    });
  const prepared = pipeline.prepare(operation.document, undefined);
  const { result } = await pipeline.run(prepared, requestOf(operation, requestId, cancellation));
  const pieces = await partsOf(result, () => hasLeft);
  return hasLeft ? undefined : mergeParts(pieces.map(asJson));
}

async function partsOf(result: Outcome['result'], hasLeft: () => boolean): Promise<object[]> {
  if (!(Symbol.asyncIterator in result)) return [result];
  const pieces: object[] = [];
  for await (const piece of result) {
    pieces.push(piece);
    if (hasLeft()) break;
  }
  return pieces;
}

const asJson = (value: object): Piece =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (each instanceof GraphQLError ? each.toJSON() : each)),
  ) as Piece;

async function byRequest(product: Product, operation: CaseOperation, requestId: string): Promise<Shown | undefined> {
  const { via, leavesAfter, isReload } = operation.client;
  const token = tokenFor(operation);
  const leaving = new AbortController();
  if (leavesAfter !== undefined) after(leavesAfter, () => leaving.abort(new Error('The client disconnected.')));
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    accept: isIncremental(operation) ? acceptOf(operation) : 'application/json',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(isReload ? { 'cache-control': 'no-cache' } : {}),
    ...(via === 'post' ? { 'content-type': 'application/json' } : { 'x-graphql-csrf': '1' }),
  };
  const { document: query, variables } = operation;
  const { address } = product;
  const request =
    via === 'post'
      ? new Request(address, {
          method: 'POST',
          headers,
          body: JSON.stringify({ query, variables }),
          signal: leaving.signal,
        })
      : new Request(`${address}?${new URLSearchParams({ query, variables: JSON.stringify(variables) }).toString()}`, {
          headers,
          signal: leaving.signal,
        });
  try {
    const response = await product.fetch(request);
    const text = await response.text();
    if (leaving.signal.aborted) return undefined;
    const boundary = /boundary="?([^";]+)/.exec(response.headers.get('content-type') ?? '')?.[1];
    return mergeParts(boundary ? parts(text, boundary) : [JSON.parse(text) as Piece]);
  } catch (error) {
    if (leaving.signal.aborted) return undefined;
    throw error;
  }
}

export const isIncremental = ({ document }: CaseOperation): boolean => /@(?:defer|stream)/.test(document);

/** Half of the documents are delivered in the current format. */
const acceptOf = ({ document }: CaseOperation): string =>
  document.length % 2 === 0 ? 'multipart/mixed' : 'multipart/mixed;incrementalSpec=v0.2';

const parts = (text: string, boundary: string): Piece[] =>
  text
    .split(`--${boundary}`)
    .map((part) => part.slice(part.indexOf('\r\n\r\n') + 4).trim())
    .filter((part) => part.startsWith('{'))
    .map((part) => JSON.parse(part) as Piece);

interface Piece extends Shown {
  hasNext?: boolean;
  pending?: { id: string; path: (string | number)[] }[];
  completed?: { id: string; errors?: Shown['errors'] }[];
  incremental?: {
    /** In the current format, that of an announced part. */
    id?: string;
    path?: (string | number)[];
    data?: object | null;
    items?: unknown[] | null;
    errors?: Shown['errors'];
  }[];
}

/** Merges incremental parts as a client does. */
export function mergeParts(pieces: readonly Piece[]): Shown {
  const [first = {}, ...later] = pieces;
  if (later.length === 0) return first;
  const whole: Shown = { ...first, errors: [...(first.errors ?? [])], lostParts: [], deferredAt: [] };
  const announced = new Map((first.pending ?? []).map(({ id, path }) => [id, path]));
  const deferred = new Set((first.pending ?? []).map(({ path }) => path.join('.')));
  for (const { incremental = [], extensions, pending = [], completed = [] } of later) {
    if (extensions) whole.extensions = extensions;
    for (const { id, path } of pending) {
      announced.set(id, path);
      deferred.add(path.join('.'));
    }
    for (const { id, data, items, errors = [], ...part } of incremental) {
      const path = id === undefined ? (part.path ?? []) : pathOf(announced, id, items ? whole.data : undefined);
      deferred.add(path.join('.'));
      whole.errors!.push(...errors);
      if (data === null || items === null)
        whole.lostParts!.push(path.filter((_, at) => data === null || at < path.length - 1).join('.'));
      if (data) mergeInto(at(whole.data, path) as Record<string, unknown>, data);
      if (items) {
        const list = at(whole.data, path.slice(0, -1)) as unknown[];
        const start = Number(path.at(-1));
        items.forEach((item, index) => (list[start + index] = item));
      }
    }
    for (const { id, errors } of completed) {
      const path = pathOf(announced, id);
      announced.delete(id);
      if (errors) {
        whole.errors!.push(...errors);
        whole.lostParts!.push(path.join('.'));
      }
    }
  }
  whole.deferredAt = [...deferred];
  if (announced.size > 0 && !later.at(-1)!.hasNext) throw new Error('Announced parts were not completed.');
  delete (whole as Piece).pending;
  if (whole.errors!.length === 0) delete whole.errors;
  return whole;
}

/** Items are added at the end of the list in `data`. */
function pathOf(announced: ReadonlyMap<string, (string | number)[]>, id: string, data?: unknown): (string | number)[] {
  const path = announced.get(id);
  if (!path) throw new Error(`The part ${id} was not announced, or is complete.`);
  return data === undefined ? path : [...path, (at(data, path) as unknown[]).length];
}

function at(data: unknown, path: readonly (string | number)[]): unknown {
  let found = data;
  for (const key of path) found = (found as Record<string, unknown>)[key];
  return found;
}

function mergeInto(target: Record<string, unknown>, from: object): void {
  for (const [key, value] of Object.entries(from)) {
    const before = target[key];
    if (typeof before === 'object' && before !== null && typeof value === 'object' && value !== null)
      mergeInto(before as Record<string, unknown>, value as object);
    else target[key] = value;
  }
}

const documents = new Map<string, DocumentNode>();
export function parsed(document: string): DocumentNode {
  let made = documents.get(document);
  if (!made) {
    made = parse(document);
    if (documents.size > 500) documents.clear();
    documents.set(document, made);
  }
  return made;
}
