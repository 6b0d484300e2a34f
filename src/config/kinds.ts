/** Kinds of settings: how a value is read from text, and what it must be. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readRedisAddress } from './redis-address.ts';
import { addressRange } from '../lib/address-ranges.ts';
import { percentDecoded } from '../lib/text/unicode.ts';

export interface Kind<T> {
  /** What a value must be, in words. */
  must: string;
  /** A value as it was spelled; undefined for what it must not be. */
  read: (text: string) => T | undefined;
  /** Its type as an option of `createFacade`, in TypeScript. */
  type: string;
  /** An option as the environment would spell it; undefined where it is of another type. */
  spell: (option: unknown) => string | undefined;
  /** For a common mistake: what is wrong with the value, and the right one. */
  mistake?: (text: string) => string | undefined;
  /** No message shows a value. */
  isSecret?: boolean;
  /** A refused value without what may be secret. */
  redact?: (text: string) => string;
  /** What an option must be, where that differs from what a variable must be. */
  optionMust?: string;
}

/** Spells options of one type of JavaScript. */
const spellAny = (type: string) => (option: unknown) => (typeof option === type ? String(option) : undefined);

export const whole = (min: number, max: number) => ({
  must: `a whole number from ${min} to ${max}`,
  read: (text: string) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  },
  type: 'number',
  spell: spellAny('number'),
});

const text = { type: 'string', spell: spellAny('string') };

export const matching = (must: string, pattern: RegExp) => ({
  ...text,
  must,
  read: (value: string) => (pattern.test(value) ? value : undefined),
});

export const path = matching('a path', /^[^\0\n]+$/);

export const oneOf = <const T extends string>(...names: [T, ...T[]]) => ({
  ...text,
  must: `one of ${names.join(', ')}`,
  read: (value: string) => names.find((name) => name === value),
  type: names.map((name) => `'${name}'`).join(' | '),
});

export const onOff = {
  must: 'on or off',
  optionMust: 'true or false',
  type: 'boolean',
  spell: spellAny('boolean'),
  read: (word: string) => {
    if (/^(on|true|yes|1)$/i.test(word)) return true;
    return /^(off|false|no|0)$/i.test(word) ? false : undefined;
  },
};

/** Values of the kind are secrets. */
export const secret = <T>(kind: Kind<T>): Kind<T> => ({ ...kind, isSecret: true });

/** An address without what may be a password or a key: all before its last @, its query and its fragment. */
function withoutSecrets(address: string): string {
  const [scheme] = /^[a-z][a-z\d+.-]*:\/\//i.exec(address) ?? [''];
  const user = address.lastIndexOf('@');
  const shown = user === -1 ? address : `${scheme}…${address.slice(user)}`;
  const end = shown.search(/[?#]/);
  return end === -1 ? shown : `${shown.slice(0, end)}?…`;
}

/** Credentials in an address would end in logs and errors, a query would swallow the path appended to it. */
export const httpAddress = {
  ...text,
  redact: withoutSecrets,
  must: 'an http:// or https:// address without user, query or fragment',
  read: (address: string) => {
    const url = parsed(address);
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(address);
    return isPlain ? address.replace(/(?<!\/)\/+$/, '') : undefined;
  },
};

/** The address of the catalog service: /v2 is appended to it. */
export const catalogAddress = {
  ...httpAddress,
  read: (address: string) => (withoutVersion(address) === undefined ? httpAddress.read(address) : undefined),
  mistake: (address: string) => {
    const right = withoutVersion(address);
    return right && `must not end in /v2, which is appended to it: use ${right}`;
  },
};

const withoutVersion = (address: string): string | undefined => /^(.*)\/v2$/.exec(httpAddress.read(address) ?? '')?.[1];

export const redisAddress = {
  ...text,
  redact: withoutSecrets,
  must: 'a redis:// or rediss:// address',
  read: (address: string) => (readRedisAddress(address) ? address : undefined),
  mistake: (address: string) => {
    if (/^(unix:|\/)/i.test(address)) return 'must not be a socket file: use redis://host:port';
    if (/^rediss?:\/\/[^?]*,/i.test(address)) return 'has several hosts: use redis+cluster:// or redis+sentinel://';
    if (/^rediss?\+sentinel:\/\/[^/]+\/?$/i.test(address))
      return 'must end in the name of the primary: redis+sentinel://host/name';
    return undefined;
  },
};

/** The path of a file in PEM that `use` can use. */
const pemFile = (must: string, use: (pem: string) => unknown) => ({
  ...text,
  must,
  read: (file: string) => {
    try {
      use(readFileSync(file, 'utf8'));
      return file;
    } catch {
      return undefined;
    }
  },
});
export const certificateFile = pemFile('a file of certificates in PEM', (pem) => new X509Certificate(pem));
export const keyFile = pemFile('a file with a private key in PEM, without a passphrase', createPrivateKey);

/** A proxy for calls to https:// addresses. Other programs accept it without a scheme, too. */
export const proxyAddress = {
  ...text,
  redact: withoutSecrets,
  must: 'an http:// or https:// address of a proxy, like http://user:password@proxy.example:3128',
  read: (given: string) => {
    const address = /^[a-z\d+.-]+:\/\//i.test(given) ? given : `http://${given}`;
    const url = parsed(address);
    const isPlain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !/[?#\s]/.test(given);
    return isPlain && percentDecoded(url.username + url.password) !== undefined ? url.href : undefined;
  },
};

const listOf = (items: string, isItem: (item: string) => boolean) => ({
  must: `a comma-separated list of ${items}`,
  optionMust: `a list of ${items}`,
  read: (text: string): readonly string[] | undefined => {
    const list = text.split(',').map((item) => item.trim());
    return list.every(isItem) ? list : undefined;
  },
  type: 'readonly string[]',
  spell: (option: unknown) => (Array.isArray(option) ? option.map(String).join(',') : undefined),
});

/** A shell around an app has a scheme of its own. A browser never sends the others as an origin. */
export const origins = listOf(
  'origins, each like https://shop.example or capacitor://localhost, or http://localhost:* for any port (no path, no other *)',
  (text) => {
    const origin = text.replace(/:\*$/, '');
    const { protocol, host } = parsed(origin) ?? {};
    return /^(?!wss?:|ftp:|file:|data:|blob:)[^*]+:\/\/[^*]+$/.test(origin) && origin === `${protocol}//${host}`;
  },
);

export const clientVersionList = listOf('names and oldest versions of clients, each like ios:5.2', (text) =>
  /^[\x21-\x7e][\x20-\x7e]{0,63}:\d{1,9}(?:\.\d{1,9}){0,9}$/.test(text),
);

export const clientAddressList = listOf('names and addresses, each like ios=https://apps.example/catalog', (text) => {
  const [, address = ''] = /^[\x21-\x7e][^=]{0,63}?=(https?:\/\/\S+)$/.exec(text) ?? [];
  return parsed(address) !== undefined;
});

export const addressRanges = listOf(
  'addresses and ranges, each like 10.0.0.1, 10.0.0.0/8 or fd00::/8',
  (text) => addressRange(text) !== undefined,
);

export const headerList = {
  must: 'a comma-separated list like name=value,other=value',
  read: (text: string): Readonly<Record<string, string>> | undefined => {
    if (!/^[\w-]+=[\x21-\x2b\x2d-\x7e]*(,[\w-]+=[\x21-\x2b\x2d-\x7e]*)*$/.test(text)) return undefined;
    const cut = (pair: string) => {
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      return [name, percentDecoded(value) ?? value];
    };
    return Object.fromEntries(text.split(',').map(cut)) as Record<string, string>;
  },
  optionMust: 'an object of header names and values',
  type: 'Readonly<Record<string, string>>',
  spell: (option: unknown) =>
    typeof option === 'object' && option !== null && Object.values(option).every((value) => typeof value === 'string')
      ? Object.entries(option)
          .map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`)
          .join(',')
      : undefined,
};

/** A port may be 0 in tests: the system picks one. */
export const port = whole(0, 65_535);
export const milliseconds = whole(1, 600_000);
export const bytes = whole(1, 1_000_000_000);
export const amount = whole(1, 1_000_000);

const parsed = (address: string): URL | undefined => (URL.canParse(address) ? new URL(address) : undefined);
