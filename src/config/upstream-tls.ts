/** Certificates of the connections to an upstream or Redis: those that sign its own, and the client's with its key. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config, SettingName, Values } from './settings.ts';

/** The files of each. */
const tlsSettings = {
  catalog: { ca: 'baseUrlCa', cert: 'baseUrlCert', key: 'baseUrlKey' },
  events: { ca: 'eventBaseUrlCa', cert: 'eventBaseUrlCert', key: 'eventBaseUrlKey' },
  redis: { ca: 'redisCa', cert: 'redisCert', key: 'redisKey' },
} as const;
type TlsUser = keyof typeof tlsSettings;
export type TlsSettings = Pick<Config, (typeof tlsSettings)[TlsUser]['ca' | 'cert' | 'key']>;

/** What the files have, in PEM. */
export interface TlsFiles {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Throws if the files cannot be used. */
export function readTlsFiles(service: TlsUser, settings: TlsSettings): TlsFiles {
  const names = tlsSettings[service];
  const files: TlsFiles = {};
  for (const part of ['ca', 'cert', 'key'] as const) {
    const file = settings[names[part]];
    if (file !== undefined) files[part] = readFileSync(file, 'utf8');
  }
  const { ca, cert, key } = files;
  if (ca !== undefined) new X509Certificate(ca);
  // A TLS context takes a key of another certificate without a word, and sends no certificate.
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('The key is not that of the certificate.');
  return files;
}

/** The scheme that uses the files, and the addresses of which one must have it: of the two of Redis, the other may be without TLS. */
const tlsAddresses = {
  catalog: ['https', 'baseUrl'],
  events: ['https', 'eventBaseUrl'],
  redis: ['rediss', 'redisUrl', 'idempotencyRedisUrl'],
} as const;

/** What is wrong with the settings of an upstream or Redis together. */
export function connectionProblems(values: Values, nameOf: (name: SettingName) => string): string[] {
  return (['catalog', 'events', 'redis'] as const).flatMap((service) => {
    const names = tlsSettings[service];
    const given = (['ca', 'cert', 'key'] as const).filter((part) => values[names[part]] !== undefined);
    if (given.length === 0) return [];
    const { cert, key } = names;
    const [scheme, ...addresses] = tlsAddresses[service];
    const problems: string[] = [];
    if (!addresses.some((each) => values[each]?.toLowerCase().startsWith(scheme)))
      problems.push(
        `${nameOf(addresses[0])} must be an address with TLS (${scheme}), because ${nameOf(names[given[0]!])} is set`,
      );
    if ((values[cert] === undefined) !== (values[key] === undefined))
      problems.push(`${nameOf(cert)} and ${nameOf(key)} must be set together`);
    else {
      try {
        readTlsFiles(service, values);
      } catch {
        problems.push(`${nameOf(key)} must be the key of ${nameOf(cert)}`);
      }
    }
    return problems;
  });
}
