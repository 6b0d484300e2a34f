import { expect, test } from 'vitest';
import { readRedisAddress } from '../../src/config/redis-address.ts';

const local = { host: '127.0.0.1', port: 6379 };
const server = { kind: 'server', hosts: [local], tls: false, database: 0 };

test.each([
  ['redis://127.0.0.1', server],
  ['REDIS://127.0.0.1:7000/', { ...server, hosts: [{ host: '127.0.0.1', port: 7000 }] }],
  ['redis://127.0.0.1/2', { ...server, database: 2 }],
  ['redis://:p%40ss%2F%3A%3F@127.0.0.1', { ...server, password: 'p@ss/:?' }],
  ['redis://facade:a:b@127.0.0.1', { ...server, username: 'facade', password: 'a:b' }],
  ['rediss://[::1]:6380', { ...server, tls: true, hosts: [{ host: '::1', port: 6380 }] }],
  [
    'redis+cluster://a:7000,b,c:7002',
    {
      ...server,
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
        { host: 'c', port: 7002 },
      ],
    },
  ],
  [
    'rediss+sentinel://u:p@a,b:7/main/3?sentinelUsername=s&sentinelPassword=%26',
    {
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 7 },
      ],
      tls: true,
      username: 'u',
      password: 'p',
      primary: 'main',
      database: 3,
      sentinelUsername: 's',
      sentinelPassword: '&',
    },
  ],
])('%s is read', (text, address) => {
  expect(readRedisAddress(text)).toEqual(address);
});

test.each([
  'redis:/x',
  'redis://',
  'redis://a,b',
  'redis://a:0',
  'redis://a:65536',
  'redis://a:x',
  'redis://a/x',
  'redis://a/1/2',
  'redis://%zz@a',
  'redis://a?password=x',
  'redis+cluster://a,,b',
  'redis+cluster://a/1',
  'redis+sentinel://a',
  'redis+sentinel:///main',
  'redis+proxy://a',
  'http://a',
  'unix:/run/redis.sock',
])('%s is no address', (text) => {
  expect(readRedisAddress(text)).toBeUndefined();
});
