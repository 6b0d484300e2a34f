import { expect, test } from 'vitest';
import { serviceName } from '../../../src/upstream/redis/keys.ts';

test('a service has one name, however its address is spelt', () => {
  const spellings = ['https://api.example', 'HTTPS://API.Example', 'https://api.example:443/', 'https://api.example//'];
  expect(new Set(spellings.map(serviceName))).toEqual(new Set(['https://api.example']));
  expect(serviceName('http://API.example:80/v2/Catalog/')).toBe(serviceName('http://api.example/v2/Catalog'));
});

test('other services have other names', () => {
  const services = ['http://api.example', 'https://api.example', 'https://api.example:8443', 'https://api.example/a'];
  expect(new Set(services.map(serviceName)).size).toBe(services.length);
  expect(serviceName('https://api.example/a')).not.toBe(serviceName('https://api.example/A'));
});
