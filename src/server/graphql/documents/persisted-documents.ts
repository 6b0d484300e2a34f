/**
 * Documents that clients request by an id instead of the text: trusted documents of the manifest, and documents that clients have
 * registered by their hashes (automatic persisted queries).
 *
 * Registered documents have a cache of their own, so that they cannot evict trusted ones, and which belongs to this process. If a document is
 * in neither, the response is PERSISTED_QUERY_NOT_FOUND, and the client sends the text.
 */
import { GraphQLError, type GraphQLErrorExtensions, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../../config/settings.ts';
import type { ClientCode } from '../../../engine/errors/codes.ts';
import { bareId, sha256Of } from '../../../config/documents/trusted-documents.ts';
import { NOT_EXECUTABLE } from '../../../engine/errors/codes.ts';
import type { Prepare, Prepared } from '../../../engine/documents/prepare.ts';
import { type GraphqlParams, type GraphqlRequest, malformedRequest } from '../request.ts';
import type { Trusted } from './trusted.ts';

/** The text of the requested document, or the error if there is none. */
type DocumentLookup = { text: string; prepared?: Prepared } | { error: GraphQLError };

export type Documents = ReturnType<typeof createDocuments>;

/** Limits of the cache of registered documents: their number, and the sum of their characters. */
const REGISTERED_MAX = 1_000;
const REGISTERED_CHARACTERS_MAX = 2_000_000;

type PersistedSettings = Pick<Config, 'persistedOnly' | 'automaticPersistedQueries'>;

/** Returns a function that prepares the document of a request. It throws an HttpError for a request with neither a text nor an id. */
export function createDocuments(
  { persistedOnly, automaticPersistedQueries }: PersistedSettings,
  prepare: Prepare,
  trusted: Trusted,
) {
  const registered = new LRUCache<string, string>({
    max: REGISTERED_MAX,
    maxSize: REGISTERED_CHARACTERS_MAX,
    sizeCalculation: (text) => text.length,
  });

  return ({ params, mayWrite }: DocumentRequest): Prepared => {
    const requested = documentIdIn(params);
    // Most requests have a text and no id.
    const found = requested === undefined && !persistedOnly ? undefined : lookUp(params, requested);
    if (found && 'error' in found) return { errors: [found.error] };
    const text = found?.text ?? params.query;
    if (typeof text !== 'string') throw malformedRequest('The request has no document: send a string "query".');
    const prepared = found?.prepared ?? prepare(text, params.operationName ?? undefined);
    const isMutation = prepared.ready?.operation.operation === OperationTypeNode.MUTATION;
    return isMutation && !mayWrite ? { errors: [mutationByGet] } : prepared;
  };

  /** Finds the document by its id; undefined if the request has a text and no id. */
  function lookUp(params: GraphqlParams, requested: DocumentId | null | undefined): DocumentLookup | undefined {
    const text = params.query || undefined;
    if (requested === undefined) {
      if (!persistedOnly || text === undefined || trusted.hasText(text)) return undefined;
      return { error: untrusted };
    }
    if (requested === null) return { error: malformed };
    const { id, isAutomatic } = requested;
    const known = trusted.textOf(id);
    if (known !== undefined && (text === undefined || text === known)) return { text: known };
    if (persistedOnly) return { error: untrusted };
    const stored = registered.get(id);
    if (stored !== undefined && (text === undefined || text === stored)) return { text: stored };
    if (text === undefined)
      return isAutomatic && !automaticPersistedQueries
        ? { error: unsupported }
        : { error: isAutomatic ? unregistered : unknown };
    if (sha256Of(text) !== id) return { error: mismatch };
    if (!automaticPersistedQueries) return { text };
    // Only valid documents are registered.
    const prepared = prepare(text, params.operationName ?? undefined);
    if (!prepared.errors) registered.set(id, text);
    return { text, prepared };
  }
}

type DocumentRequest = Pick<GraphqlRequest, 'params' | 'mayWrite'>;

interface DocumentId {
  id: string;
  /** Apollo's extension: the client sends the text if the hash is unknown. */
  isAutomatic: boolean;
}

/** The id of the document: undefined if the request has none, null if it is malformed. */
function documentIdIn({ documentId, extensions }: GraphqlParams): DocumentId | null | undefined {
  if (documentId !== undefined && documentId !== null)
    return typeof documentId === 'string' ? { id: bareId(documentId), isAutomatic: false } : null;
  // Serializers of some languages write null for what is absent.
  const { persistedQuery = null } = (extensions ?? {}) as { persistedQuery?: unknown };
  if (persistedQuery === null) return undefined;
  const { version, sha256Hash } = persistedQuery as { version?: unknown; sha256Hash?: unknown };
  if (sha256Hash === null) return undefined;
  if (typeof sha256Hash !== 'string' || (version !== 1 && version !== '1')) return null;
  return { id: bareId(sha256Hash), isAutomatic: true };
}

const errorOf = (code: ClientCode, message: string, http: GraphQLErrorExtensions['http']): GraphQLError =>
  new GraphQLError(message, { extensions: { code, http } });

/** A step of Apollo's protocol, so the status is 200 in every media type: some clients stop at any other and never send the text. */
const stepOfProtocol = { status: 200 };
const notExecutable = { status: NOT_EXECUTABLE };
const unregistered = errorOf('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', stepOfProtocol);
const unsupported = errorOf('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported', stepOfProtocol);

/** The status is that of invalid documents: 200 if the client accepts application/json only. */
const unknown = errorOf('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', { status: NOT_EXECUTABLE, spec: true });
const mismatch = errorOf('PERSISTED_QUERY_HASH_MISMATCH', 'The hash does not match the document.', notExecutable);
const malformed = errorOf(
  'BAD_REQUEST',
  '`documentId` must be a string, `extensions.persistedQuery` an object with `version` 1 and `sha256Hash`.',
  notExecutable,
);
const untrusted = errorOf('PERSISTED_ONLY', 'Only trusted documents are executed. Request them by their hashes.', {
  status: 403,
});
const mutationByGet = errorOf('BAD_REQUEST', 'Can only perform a mutation operation from a POST request.', {
  status: 405,
  headers: { Allow: 'POST' },
});
