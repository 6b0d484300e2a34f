import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { type BannerSettings, type StartedServers, banner, logStart } from '../../src/cli/banner.ts';
import { readConfig } from '../../src/config/read.ts';
import { createLog } from '../../src/lib/log.ts';

const graph = 'http://127.0.0.1:4000';
const version = '1.2.3';
const facade = { url: graph };
const origin = { url: 'http://127.0.0.1:4001', seeded: true };

function startLine(servers: StartedServers, config: BannerSettings): string {
  let written = '';
  logStart(servers, config, createLog('info', { write: (text: string) => void (written += text) }));
  return written;
}

test('the banner has all URLs and an example request with a demo token', () => {
  const text = banner({ version, facade, origin }, readConfig({}));
  for (const part of [
    `${graph}/ `,
    `${graph}/graphql`,
    origin.url,
    '.catalog',
    'filled with the demo catalog',
    `${graph}/docs/errors`,
  ])
    expect(text).toContain(part);
  expect(text).toMatch(/^tokens .*demo-alice/m);
  expect(text).toMatch(/^try +curl .*Bearer demo-alice/m);
});

test('the banner and the log line name another upstream, and no token', () => {
  const config = readConfig({
    BASE_URL: 'http://a.example',
    EVENT_BASE_URL: 'http://b.example',
    ACCESS_TOKEN: 'secret',
  });
  for (const text of [banner({ version, facade }, config), startLine({ version, facade }, config)]) {
    expect(text).toMatch(/catalog +http:\/\/a\.example\b/);
    expect(text).toMatch(/events +http:\/\/b\.example\b/);
    expect(text).toContain(version);
    expect(text).not.toMatch(/demo-|secret/);
  }
});

test('the banner has no demo tokens in production, even if the demo is on', () => {
  for (const DEMO of ['on', 'off']) {
    const config = readConfig({ NODE_ENV: 'production', DEMO });
    expect(banner({ version, facade, origin }, config)).not.toMatch(/demo-|^page /m);
  }
});

test('the start is logged as one line of JSON without a token', () => {
  const line = startLine({ version, facade, origin }, readConfig({}));
  expect(line.match(/\n/g)).toHaveLength(1);
  expect(JSON.parse(line)).toMatchObject({
    level: 'info',
    hostname: hostname(),
    version,
    graph: `${graph}/graphql`,
    origin: origin.url,
  });
  expect(line).not.toContain('demo-alice');
});

test('the address for agents is there only if the protocol is on', () => {
  for (const print of [banner, startLine]) {
    expect(print({ version, facade, origin }, readConfig({ MCP: 'on' }))).toContain(`${graph}/mcp`);
    expect(print({ version, facade, origin }, readConfig({}))).not.toContain('/mcp');
  }
});
