import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { usageReportOf, usageTokenIn } from '../../src/commands/usage-request.ts';
import { listen } from '../support/listen.ts';

test.each<[{ status?: number; text: string }, string]>([
  [{ text: '<html>Log in' }, 'responds with something else than counts.'],
  [{ text: '{"status":"ok"}' }, 'responds with something else than counts.'],
  [{ text: 'null' }, 'responds with something else than counts.'],
  [{ status: 302, text: '' }, 'responds with status 302.'],
  [{ status: 401, text: '' }, 'refuses the token of the file.'],
  [{ status: 503, text: '' }, 'responds with status 503.'],
])('a server that answers %j is described in one sentence', async ({ status = 200, text }, sentence) => {
  const url = await serverOf(status, text);
  await expect(usageReportOf(`${url}/`, 'a-token-of-operators')).rejects.toThrow(`${url}/usage ${sentence}`);
});

test('a server that gives no answer is not waited for without end, and the reason is named', async () => {
  const timeout = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
  onTestFinished(() => void vi.restoreAllMocks());
  const url = await serverOf(200, undefined, () => timeout.abort());
  await expect(usageReportOf(url, undefined)).rejects.toThrow(`${url}/usage cannot be reached: no answer in time.`);
});

test('the reason why a server cannot be reached is named', async () => {
  await expect(usageReportOf('http://127.0.0.1:1', undefined)).rejects.toThrow(
    'http://127.0.0.1:1/usage cannot be reached: ',
  );
});

test.each([
  ['localhost:4000', 'localhost:4000'],
  ['http://name:password@host', 'http://…@host'],
  ['ftp://host', 'ftp://host'],
])('the address %s is refused, without its password', async (url, shown) => {
  await expect(usageReportOf(url, undefined)).rejects.toThrow(`${shown} must be an http:// or https:// address`);
});

test('a file that holds no token is named, and its content is not shown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  for (const content of ['', 'short', 'two words that are long', 'first-line-of-a-token\nsecond-line']) {
    writeFileSync(file, content);
    expect(() => usageTokenIn(file)).toThrow(`${file} must contain a bearer token of 16 or more`);
  }
  writeFileSync(file, '\uFEFFa-token-of-operators\r\n');
  expect(usageTokenIn(file)).toBe('a-token-of-operators');
  expect(() => usageTokenIn(folder)).toThrow(`${folder} cannot be read (EISDIR).`);
  expect(usageTokenIn(undefined)).toBeUndefined();
});

/** Its address. Without a text it sends the headers and nothing more. */
async function serverOf(status: number, text: string | undefined, onRequest?: () => void): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { location: 'http://127.0.0.1:1/' });
    if (text === undefined) response.flushHeaders();
    else response.end(text);
    onRequest?.();
  });
  return listen(server);
}
