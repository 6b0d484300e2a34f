/** The trusted documents: the manifest that PERSISTED_OPERATIONS names, read and checked. */
import { createHash } from 'node:crypto';
import { parse } from 'graphql';
import { isPlainObject } from '../../lib/objects.ts';
import { readTextFile } from '../../lib/text/read-text.ts';
import { UserError } from '../../lib/user-error.ts';

/** Texts by their ids: the SHA-256 in hex, or what the tool that wrote the manifest calls them by. */
export type TrustedDocuments = ReadonlyMap<string, string>;

export const APOLLO_FORMAT = 'apollo-persisted-query-manifest';
const SHA256 = /^[0-9a-f]{64}$/;

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `sha256:…` and the bare hash are one id. */
export const bareId = (id: string): string => (id.startsWith('sha256:') ? id.slice('sha256:'.length) : id);

/**
 * Reads `{ id: text }`, as GraphQL Code Generator and the Relay compiler write it, or Apollo's list of operations.
 * An id that is a hash must be the hash of its text: clients may request the text by a hash that they have computed themselves.
 */
export function readManifest(path: string): TrustedDocuments {
  const documents = new Map<string, string>();
  for (const [id, text] of entriesIn(jsonIn(path))) {
    const bare = bareId(id);
    if (SHA256.test(bare) && sha256Of(text) !== bare) throw new UserError(`${shown(id)} is not the hash of its text`);
    try {
      parse(text);
    } catch (error) {
      throw new UserError(`${shown(id)} is no document: ${(error as Error).message}`);
    }
    documents.set(bare, text);
  }
  if (documents.size === 0) throw new UserError('it has no documents');
  return documents;
}

function jsonIn(path: string): unknown {
  const text = readTextFile(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError('it is not JSON');
  }
}

function entriesIn(manifest: unknown): [id: string, text: string][] {
  if (!isPlainObject(manifest)) throw new UserError('it is not an object of documents by their hashes');
  if (manifest.format === APOLLO_FORMAT) {
    const { version, operations } = manifest;
    if (version !== 1 || !Array.isArray(operations)) throw new UserError(`it is not version 1 of ${APOLLO_FORMAT}`);
    return operations.map((operation: unknown, at) => {
      const { id, body } = isPlainObject(operation) ? operation : {};
      if (typeof id !== 'string' || typeof body !== 'string')
        throw new UserError(`operation ${at + 1} has no id or no body`);
      return [id, body];
    });
  }
  return Object.entries(manifest).map(([id, text]) => {
    if (typeof text !== 'string') throw new UserError(`${shown(id)} is not a text`);
    return [id, text];
  });
}

const shown = (id: string): string => JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);

/** Whether clients may read the schema: where introspection is on and PERSISTED_ONLY is off. */
export const showsSchema = (config: { introspection: boolean; persistedOnly: boolean }): boolean =>
  config.introspection && !config.persistedOnly;
