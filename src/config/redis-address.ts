/** Reads REDIS_URL: a server, a cluster, or a primary that Sentinels know. */
import { percentDecoded } from '../lib/text/unicode.ts';

interface HostPort {
  host: string;
  port: number;
}

export interface RedisAddress {
  kind: 'server' | 'cluster' | 'sentinel';
  /** Servers of a cluster and Sentinels may be several, of which one must be reachable at the start. */
  hosts: readonly HostPort[];
  tls: boolean;
  username?: string;
  password?: string;
  /** Not of a cluster, which has one database. */
  database: number;
  /** What Sentinels call the primary. */
  primary?: string;
  /** Sentinels may have a password of their own. */
  sentinelUsername?: string;
  sentinelPassword?: string;
}

const SCHEME = /^(redis|rediss)(?:\+(cluster|sentinel))?:\/\//i;
const DEFAULT_PORTS = { server: 6379, cluster: 6379, sentinel: 26_379 };

/** Undefined if it is no address of Redis. */
export function readRedisAddress(text: string): RedisAddress | undefined {
  const [start, scheme, form = 'server'] = SCHEME.exec(text) ?? [];
  if (start === undefined) return undefined;
  const kind = form.toLowerCase() as RedisAddress['kind'];
  const [withoutQuery = '', query] = cutAt(text.slice(start.length), '?');
  const [authority = '', path] = cutAt(withoutQuery, '/');
  const at = authority.lastIndexOf('@');
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map((each) => readHost(each, DEFAULT_PORTS[kind]));
  const user = at === -1 ? {} : readUser(authority.slice(0, at));
  const parts = readPath(kind, path);
  const sentinelUser = readQuery(kind, query);
  if (!hosts.every((each) => each !== undefined) || !user || !parts || !sentinelUser) return undefined;
  if (kind === 'server' && hosts.length > 1) return undefined;
  return { kind, hosts, tls: scheme!.toLowerCase() === 'rediss', ...user, ...parts, ...sentinelUser };
}

function readHost(text: string, defaultPort: number): HostPort | undefined {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

/** Percent-encoded, because a password may have any character. */
function readUser(text: string): Pick<RedisAddress, 'username' | 'password'> | undefined {
  const parts = cutAt(text, ':').map(percentDecoded);
  if (parts.includes(undefined)) return undefined;
  const [name, secret] = parts;
  return { ...(name && { username: name }), ...(secret && { password: secret }) };
}

/** `/2` is a database, of Sentinels after the name of the primary. */
function readPath(kind: RedisAddress['kind'], path = ''): Pick<RedisAddress, 'primary' | 'database'> | undefined {
  const parts = path.split('/');
  const primary = kind === 'sentinel' ? percentDecoded(parts.shift() ?? '') : undefined;
  const [number = '', ...more] = parts;
  if (more.length > 0 || !/^\d{0,5}$/.test(number) || (kind === 'sentinel' && !primary)) return undefined;
  if (kind === 'cluster' && Number(number) !== 0) return undefined;
  return { database: Number(number), ...(primary && { primary }) };
}

function readQuery(
  kind: RedisAddress['kind'],
  query: string | undefined,
): Pick<RedisAddress, 'sentinelUsername' | 'sentinelPassword'> | undefined {
  const given = Object.fromEntries(new URLSearchParams(query ?? ''));
  const { sentinelUsername, sentinelPassword, ...unknown } = given;
  const isKnown = Object.keys(unknown).length === 0 && (kind === 'sentinel' || Object.keys(given).length === 0);
  return isKnown
    ? { ...(sentinelUsername && { sentinelUsername }), ...(sentinelPassword && { sentinelPassword }) }
    : undefined;
}

/** The text before and after the first of this character; the second is absent without it. */
function cutAt(text: string, character: string): string[] {
  const at = text.indexOf(character);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
