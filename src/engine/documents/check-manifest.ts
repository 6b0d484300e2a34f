/** Reports at the start which trusted documents can never run: they are invalid, or exceed a limit with any variables. */
import { type GraphQLSchema, Kind, parse } from 'graphql';
import type { Logger } from 'pino';
import { setImmediate } from 'node:timers/promises';
import type { TrustedDocuments } from '../../config/documents/trusted-documents.ts';
import { alwaysRejected } from './assess.ts';
import type { DocumentSettings } from './limits.ts';
import { createPrepare } from './prepare.ts';

export type ManifestSettings = DocumentSettings & { trustedDocuments: TrustedDocuments };

interface RejectedOperation {
  /** Its name; the id of the document if it has none. */
  operation: string;
  problem: string;
}

/** How many operations the log names. */
const NAMED_MAX = 20;

export function checkManifest(schema: GraphQLSchema, settings: ManifestSettings, log: Logger): void {
  logRejected([...rejectedOperations(schema, settings, settings.trustedDocuments)].flat(), log);
}

/** Checks documents while the server runs: between two of them it handles requests. */
export async function checkDocuments(
  schema: GraphQLSchema,
  settings: DocumentSettings,
  documents: TrustedDocuments,
  log: Logger,
): Promise<void> {
  const rejected: RejectedOperation[] = [];
  for (const found of rejectedOperations(schema, settings, documents)) {
    rejected.push(...found);
    await setImmediate();
  }
  logRejected(rejected, log);
}

function* rejectedOperations(
  schema: GraphQLSchema,
  settings: DocumentSettings,
  documents: TrustedDocuments,
): Generator<RejectedOperation[]> {
  // Its caches are not those of the server: what may never be requested must not evict what is.
  const prepare = createPrepare(schema, settings);
  for (const [id, text] of documents) {
    const operations = parse(text).definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const names = operations.length <= 1 ? [undefined] : operations.map(({ name }) => name?.value);
    yield names.flatMap((name, at) => {
      const error = alwaysRejected(schema, prepare, text, name);
      return error ? [{ operation: operations[at]?.name?.value ?? id, problem: error.message }] : [];
    });
  }
}

function logRejected(rejected: readonly RejectedOperation[], log: Logger): void {
  if (rejected.length === 0) return;
  const operations = rejected.slice(0, NAMED_MAX);
  const texts = operations.map(({ operation, problem }) => `${operation}: ${problem}`);
  const more = rejected.length - operations.length;
  log.warn(
    { operations, more: more || undefined },
    `Operations of PERSISTED_OPERATIONS that are always rejected: ${texts.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`,
  );
}
