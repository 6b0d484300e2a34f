/** Which edition of the protocol a message is of, and whether its headers agree with it. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  UnsupportedProtocolVersionError,
  classifyInboundRequest,
} from '@modelcontextprotocol/server';
import { isPlainObject } from '../../../../lib/objects.ts';
import { shortText } from '../../../../engine/errors/shown-value.ts';
import type { RpcRequest } from './json-rpc.ts';
import { type Era, REQUEST_VERSIONS, SESSION_VERSIONS, VERSIONS } from '../methods.ts';

/** The era whose methods answer the message, or why none does. */
export type Edition = { era: Era } | { status: number; error: ProtocolError };

const HEADER_MISMATCH = -32_020;
/** The SDK repeats methods and headers, which may be long. */
const MESSAGE_MAX = 400;

/** The SDK decides by the body, and compares the headers that are there; the rest of the rules for headers are below. */
export function editionOf(message: object, headers: IncomingHttpHeaders): Edition {
  const { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name } = headersOf(headers);
  const claimed = claimedVersion(message);
  // An edition with sessions may be named in `_meta` too: no session is kept for it either.
  if (isSessionVersion(claimed) && (version === undefined || version === claimed)) return { era: 'session' };
  if (claimed === undefined && version !== undefined && !VERSIONS.includes(version))
    return isMethod(message, 'initialize') ? { era: 'session' } : rejected(unsupported(version));
  const found = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  });
  if (found.kind === 'reject') {
    return { status: found.httpStatus, error: new ProtocolError(found.code, shortText(found.message, MESSAGE_MAX)) };
  }
  if (found.kind === 'legacy') return isMethod(message, 'server/discover') ? rejected(NO_META) : { era: 'session' };
  const { revision = 'none' } = found.classification;
  if (!REQUEST_VERSIONS.includes(revision)) return rejected(unsupported(revision));
  const mismatch = found.messageKind === 'request' ? headerMismatch(message as RpcRequest, headers) : undefined;
  return mismatch === undefined ? { era: 'request' } : rejected(new ProtocolError(HEADER_MISMATCH, mismatch));
}

const rejected = (error: ProtocolError): Edition => ({ status: 400, error });

const NO_META = new ProtocolError(
  ProtocolErrorCode.InvalidParams,
  `server/discover needs \`params._meta\` with ${PROTOCOL_VERSION_META_KEY}.`,
);

const unsupported = (requested: string): ProtocolError =>
  new UnsupportedProtocolVersionError({ supported: [...VERSIONS], requested: requested.slice(0, 100) });

const isMethod = (message: object, method: string): boolean => 'method' in message && message.method === method;

const isSessionVersion = (version: unknown): boolean =>
  typeof version === 'string' && SESSION_VERSIONS.includes(version);

function claimedVersion(message: object): unknown {
  const { params } = message as { params?: Record<string, unknown> };
  const meta = params?._meta;
  return isPlainObject(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
}

/** A header that is sent twice counts as one with both values. */
const headersOf = (headers: IncomingHttpHeaders): Partial<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** The SDK has compared MCP-Protocol-Version and Mcp-Method if they were sent. */
function headerMismatch({ method, params }: RpcRequest, headers: IncomingHttpHeaders): string | undefined {
  const required = ['mcp-protocol-version', 'mcp-method'].find((name) => headers[name] === undefined);
  if (required !== undefined) return `The header ${required} is missing.`;
  const named = params?.name;
  if (method !== 'tools/call' || typeof named !== 'string') return undefined;
  const given = headers['mcp-name'];
  if (given === undefined) return 'The header mcp-name is missing.';
  return decodedHeader(String(given)) === named ? undefined : `The header mcp-name must repeat \`params.name\`.`;
}

/** Values that a header cannot hold are sent in Base64. Undefined if they are malformed. */
function decodedHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  const text = bytes.toString();
  return bytes.toString('base64') === encoded && Buffer.from(text).equals(bytes) ? text : undefined;
}
