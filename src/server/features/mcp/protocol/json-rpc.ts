/** Messages of JSON-RPC 2.0 as MCP restricts them, and the texts of responses. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isPlainObject } from '../../../../lib/objects.ts';

export type Id = string | number;

export interface RpcRequest {
  jsonrpc: '2.0';
  id: Id;
  method: string;
  params?: Record<string, unknown>;
}

/** A message in a body. Notifications and responses get no response. */
export type RpcMessage =
  | { kind: 'request'; request: RpcRequest }
  | { kind: 'notification'; notification: object }
  | { kind: 'response' }
  | { kind: 'invalid'; id: Id | null; error: ProtocolError };

/** `null` stands for an absent member: serializers of several languages write it. */
export function readMessage(value: unknown): RpcMessage {
  // The edition 2025-03-26 alone has batches, and no client is known that sends one.
  if (Array.isArray(value)) return invalid(null, 'A body has one message, not a list of them.');
  if (!isPlainObject(value)) return invalid(null, 'A message must be an object.');
  const { jsonrpc, id, method, params } = value;
  const known = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, '`jsonrpc` must be "2.0".');
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' };
  if (id !== undefined && known === null) return invalid(null, '`id` must be a string or an integer.');
  if (typeof method !== 'string') return invalid(known, '`method` must be a string.');
  if (Array.isArray(params)) return invalid(known, '`params` must be an object.', ProtocolErrorCode.InvalidParams);
  if (params != null && !isPlainObject(params)) return invalid(known, '`params` must be an object.');
  const message = { jsonrpc, method, ...(params != null && { params: withoutNulls(params, NULLS_DEPTH) }) };
  return known === null
    ? { kind: 'notification', notification: message }
    : { kind: 'request', request: { ...message, id: known } as RpcRequest };
}

/** Larger integers would be another number in the response. */
const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isSafeInteger(id);

const invalid = (id: Id | null, message: string, code = ProtocolErrorCode.InvalidRequest): RpcMessage => ({
  kind: 'invalid',
  id,
  error: new ProtocolError(code, message),
});

/** Members of params, of `_meta` or `clientInfo`, and of objects in these. */
const NULLS_DEPTH = 3;

/** The arguments of a tool keep theirs: there null is a value. */
function withoutNulls(params: Record<string, unknown>, depth: number): Record<string, unknown> {
  const members = Object.entries(params).filter(([, value]) => value !== null);
  return Object.fromEntries(
    members.map(([name, value]) => {
      const isRead = depth > 1 && name !== 'arguments' && isPlainObject(value);
      return [name, isRead ? withoutNulls(value, depth - 1) : value];
    }),
  );
}

/** A text of JSON, or its bytes if it is kept: a long one is not encoded again for each response. */
export type Json = string | Buffer;

export function resultMessage(id: Id, result: Json): Json {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  return typeof result === 'string'
    ? `${head}${result}}`
    : Buffer.concat([Buffer.from(head), result, Buffer.from('}')]);
}

export const errorMessage = (id: Id | null, { code, message, data }: ProtocolError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
