/** Describes why a Redis cannot be used. */
import type { RedisAddress } from '../../../config/redis-address.ts';

/** HRANDFIELD is the newest command that is used. */
const LEAST_VERSION = '6.2';

export interface RedisRefusal {
  /** The message of an error reply. */
  message: string;
  /** The command of a script that it is about, if that is known. */
  command?: string;
  /** The version of the server. */
  version?: string;
  /** A whole script was refused, and all commands were allowed. */
  isOfScript?: boolean;
}

const UNKNOWN_COMMAND = /unknown (redis )?command/i;
const NOT_PERMITTED = /NOPERM|no permissions|executing the script can't|ACL failure/i;
/** Errors of proxies that read scripts before they pass them on, and of servers without scripts. */
const SCRIPT_REFUSED = /bad lua script|undeclared key|\bKEYS\b|not (supported|allowed)|unsupported|disabled|forbidden/i;

/**
 * A sentence; undefined if it may be temporary, as LOADING, READONLY and OOM are. Never the message itself: it may be of a proxy, and repeat
 * what it was sent.
 */
export function describeRefusal(
  refusal: RedisRefusal,
  { address, variable }: { address: RedisAddress; variable: string },
): string | undefined {
  const { message, isOfScript = false } = refusal;
  const { username, database } = address;
  const server = `The Redis of ${variable}`;
  const user = username === undefined ? 'the default user' : `user ${username}`;
  if (/WRONGPASS|invalid (username-)?password|AUTH failed/i.test(message))
    return `${server} refuses the password of ${user}.`;
  if (/NOAUTH|without any password configured/.test(message))
    return `${server} needs a password: redis://:password@host.`;
  if (/DB index|SELECT is not allowed/.test(message)) return `${server} has no database ${database}.`;
  const ofKind = describeKind(message, address, server);
  if (ofKind !== undefined) return ofKind;
  if (UNKNOWN_COMMAND.test(message)) return describeUnknown(refusal, server);
  if (NOT_PERMITTED.test(message)) {
    const what = /\bkeys?\b/.test(message) ? 'use keys that begin with catalog:' : `run ${commandOf(refusal)}`;
    return `${server} does not let ${user} ${what}. What it needs is in docs/operations.md.`;
  }
  if (isOfScript && SCRIPT_REFUSED.test(message))
    return `${server}, or a proxy in front of it, refuses scripts whose keys are not all literal KEYS[n]. Use a Redis without that limit: docs/operations.md.`;
  return undefined;
}

/** A cluster that is called as a server, or the other way round. */
function describeKind(message: string, { kind, hosts, tls }: RedisAddress, server: string): string | undefined {
  if (/cluster support disabled/.test(message)) return `${server} is not in cluster mode: leave out +cluster.`;
  if (kind === 'sentinel' && UNKNOWN_COMMAND.test(message) && /sentinel/i.test(message))
    return `${server} is no Sentinel: leave out +sentinel and the name.`;
  if (!/MOVED|CROSSSLOT/.test(message) || kind === 'cluster') return undefined;
  const [{ host, port } = { host: 'host', port: 6379 }] = hosts;
  return `${server} is in cluster mode: use ${tls ? 'rediss' : 'redis'}+cluster://${host}:${port}.`;
}

function describeUnknown(refusal: RedisRefusal, server: string): string {
  const { version } = refusal;
  const own = version === undefined ? '' : ` (version ${version})`;
  return `${server}${own} does not know ${commandOf(refusal)}: Redis ${LEAST_VERSION} or later is needed.`;
}

function commandOf({ command, message }: RedisRefusal): string {
  const named = command ?? /['\u0060]([\w|]{1,40})['\u0060]/.exec(message)?.[1];
  return named?.toUpperCase() ?? 'a command of its scripts';
}
