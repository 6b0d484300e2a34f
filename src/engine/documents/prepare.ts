/** Prepares documents: checks them, and makes them ready to run. Results are cached, bounded by the memory that they take. */
import { type GraphQLError, type GraphQLSchema, type OperationTypeNode, getOperationAST } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { type Variables, withoutIncremental } from '../plan/document.ts';
import { type Executed, createExecutor } from '../execute/executor.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import { lazily } from '../../lib/promises.ts';
import { CACHE_MAX_BYTES, oncePer } from '../../lib/remember.ts';
import { type PlannableDocument, createDocumentCheck } from './check-document.ts';
import type { DocumentSettings } from './limits.ts';

/** A prepared document. If it has errors, they are the response and it is not run. */
export type Prepared =
  { errors: readonly GraphQLError[]; ready?: undefined } | { errors?: undefined; ready: ExecutableDocument };

/** The operation of a document: one value for each document, also for what is stored of it when the document is gone. */
export interface NamedOperation {
  readonly type: OperationTypeNode;
  readonly name: string | undefined;
}

/** A valid document, ready to run. */
export interface ExecutableDocument extends PlannableDocument {
  named: NamedOperation;
  run: (context: Context, coerced: Variables) => Executed | Promise<Executed>;
  /** The document without incremental delivery, for clients that accept none. */
  nonIncremental: () => ExecutableDocument;
}

export type Prepare = (text: string, operationName: string | undefined) => Prepared;

/** The most documents in the cache. Their size is bounded too: a syntax tree can be a hundred times as large as its text. */
const DOCUMENTS_MAX = 1_000;
/** Measured: 240 to 510 bytes a token, including its nodes and their locations. */
const TOKEN_BYTES = 500;
const ERROR_BYTES = 500;

export function createPrepare(schema: GraphQLSchema, settings: DocumentSettings): Prepare {
  const { check, plannable } = createDocumentCheck(schema, settings);
  const known = new LRUCache<string, Prepared>({
    max: DOCUMENTS_MAX,
    maxSize: CACHE_MAX_BYTES.documents,
    sizeCalculation: bytesOf,
  });
  return (text, givenName) => {
    const operationName = givenName || undefined; // clients send an empty name for none
    // The length keeps a name apart from the beginning of a text.
    const key = operationName === undefined ? `\n${text}` : `${operationName.length} ${operationName}\n${text}`;
    let prepared = known.get(key);
    if (!prepared) {
      prepared = make(text, operationName);
      if (text.length <= settings.maxDocumentCharacters) known.set(key, prepared);
    }
    return prepared;
  };

  function make(text: string, operationName: string | undefined): Prepared {
    const { errors, ready: checked } = check(text, operationName);
    if (!checked) return { errors };
    const ready = executable(checked);
    if (checked.incrementalSelections.length > 0)
      ready.nonIncremental = lazily(() => {
        const plain = withoutIncremental(checked.document);
        return executable(plannable(plain, getOperationAST(plain, operationName)!));
      });
    return { ready };
  }

  function executable(checked: PlannableDocument): ExecutableDocument {
    const executorFor = oncePer((plan: OperationPlan) => createExecutor(schema, plan));
    const ready: ExecutableDocument = {
      ...checked,
      named: { type: checked.operation.operation, name: checked.operation.name?.value },
      run: (context, coerced) => executorFor(context.plan)(context, coerced),
      nonIncremental: () => ready,
    };
    return ready;
  }
}

/** A document with incremental delivery may be kept without it too. */
function bytesOf({ ready, errors = [] }: Prepared, key: string): number {
  const tokens = (ready?.document.tokenCount ?? 0) * (ready?.incrementalSelections.length ? 2 : 1);
  const messages = errors.reduce((sum, { message }) => sum + ERROR_BYTES + 2 * message.length, 0);
  return 2 * key.length + TOKEN_BYTES * tokens + messages;
}
