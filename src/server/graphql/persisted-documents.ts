/**
 * Documents that are asked for by a name in place of their text: trusted ones, which the manifest holds, and those that clients have
 * registered by their hashes (automatic persisted queries).
 *
 * The two are kept apart: whatever clients register, no trusted document makes room for it. What is registered lies in this process
 * alone; a replica that does not have it says so, and its client sends the text once more.
 */
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/settings.ts';
import type { ClientCode } from '../../graph/errors/codes.ts';
import { bareId, sha256Of } from '../../config/trusted-documents.ts';
import type { GraphqlParams } from '../http/request-body.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Preparation, Prepared } from './prepare.ts';

/** The text that was asked for, or why there is none. */
export type DocumentLookup = { text: string; prepared?: Prepared } | { refusal: GraphQLError };

export interface PersistedDocuments {
  /** What a question names in place of its text; undefined where its own text is all there is to it. */
  lookup: (asked: GraphqlParams) => DocumentLookup | undefined;
}

type PersistedSettings = Pick<Config, 'trustedDocuments' | 'persistedOnly' | 'automaticPersistedQueries'>;

/** Registered documents, and their characters together. */
const REGISTERED_MAX = 1_000;
const REGISTERED_CHARACTERS_MAX = 2_000_000;

export function createPersistedDocuments(
  { trustedDocuments, persistedOnly, automaticPersistedQueries }: PersistedSettings,
  pipeline: Pick<Preparation, 'prepare'>,
  metrics: Metrics,
): PersistedDocuments {
  const trustedTexts = new Set(trustedDocuments.values());
  const registered = new LRUCache<string, string>({
    max: REGISTERED_MAX,
    maxSize: REGISTERED_CHARACTERS_MAX,
    sizeCalculation: (text) => text.length,
  });
  const found = (outcome: string, text: string, prepared?: Prepared): DocumentLookup => {
    metrics.persistedDocuments.inc({ outcome });
    return prepared ? { text, prepared } : { text };
  };
  const refused = (outcome: string, refusal: GraphQLError): DocumentLookup => {
    metrics.persistedDocuments.inc({ outcome });
    return { refusal };
  };

  return {
    lookup(asked) {
      const named = nameIn(asked);
      const text = asked.query || undefined;
      if (named === undefined) {
        if (!persistedOnly || text === undefined || trustedTexts.has(text)) return undefined;
        return refused('untrusted', untrusted);
      }
      if (named === null) return refused('malformed', malformed);
      const { id, isAutomatic } = named;
      const trusted = trustedDocuments.get(id);
      if (trusted !== undefined && (text === undefined || text === trusted)) return found('trusted', trusted);
      if (persistedOnly) return refused('untrusted', untrusted);
      const known = registered.get(id);
      if (known !== undefined && (text === undefined || text === known)) return found('registered', known);
      if (text === undefined)
        return isAutomatic && !automaticPersistedQueries
          ? refused('unsupported', unsupported)
          : refused('unknown', unknown);
      if (sha256Of(text) !== id) return refused('mismatch', mismatch);
      if (!automaticPersistedQueries) return found('sent', text);
      // What nothing is wrong with, and nothing else: the room is for what can be run.
      const { operationName } = asked;
      const prepared = pipeline.prepare(text, typeof operationName === 'string' ? operationName : undefined);
      if (!prepared.errors) registered.set(id, text);
      return found('sent', text, prepared);
    },
  };
}

interface Named {
  id: string;
  /** Apollo's extension: its client sends the text when it is told that the hash is not known. */
  isAutomatic: boolean;
}

/** The name of a document: undefined where there is none, null where it cannot be one. */
function nameIn({ documentId, extensions }: GraphqlParams): Named | null | undefined {
  if (documentId !== undefined && documentId !== null)
    return typeof documentId === 'string' ? { id: bareId(documentId), isAutomatic: false } : null;
  if (typeof extensions !== 'object' || extensions === null || !('persistedQuery' in extensions)) return undefined;
  const { persistedQuery } = extensions;
  if (typeof persistedQuery !== 'object' || persistedQuery === null) return null;
  const { version, sha256Hash } = persistedQuery as { version?: unknown; sha256Hash?: unknown };
  return version === 1 && typeof sha256Hash === 'string' ? { id: sha256Hash, isAutomatic: true } : null;
}

const refusalOf = (code: ClientCode, message: string, http: GraphQLErrorExtensions['http']): GraphQLError =>
  new GraphQLError(message, { extensions: { code, http } });

/** For who asks in plain JSON these are answers, with 200, as for any document that cannot be run; clients go by message and code. */
const asAnswer = { status: 400, spec: true };

const unknown = refusalOf('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', asAnswer);
const unsupported = refusalOf('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported', asAnswer);
const mismatch = refusalOf('PERSISTED_QUERY_HASH_MISMATCH', 'The hash is not that of the document.', { status: 400 });
const malformed = refusalOf(
  'BAD_REQUEST',
  '`documentId` must be a string, `extensions.persistedQuery` an object with `version` 1 and `sha256Hash`.',
  { status: 400 },
);
const untrusted = refusalOf('PERSISTED_ONLY', 'Only trusted documents are run here, asked for by their hashes.', {
  status: 403,
});
