import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { type OriginOptions, openOrigin } from '../../src/origin/server.ts';

export const demoDir = fileURLToPath(new URL('../../demo', import.meta.url));

/** Who asks: one of the demo people, a token, or nobody. */
export type Asker = 'alice' | 'bob' | 'carol' | 'app' | { token: string } | null;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Decoded where it is JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test says what it expects of an answer by expecting it
  body: any;
}
export type Service = Awaited<ReturnType<typeof service>>;

/** A filled origin of the test's own, with real sockets, until the file's tests are done. */
export async function service(options: Partial<OriginOptions> = {}) {
  const dataDir = temporaryDirectory();
  cpSync(await template(), dataDir, { recursive: true });
  const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true, ...options });
  afterAll(() => origin.close());

  async function ask(
    method: string,
    path: string,
    as: Asker = null,
    body?: object | string | FormData | URLSearchParams,
  ): Promise<Answer> {
    const headers: Record<string, string> = authorization(as);
    if (typeof body === 'string') headers['content-type'] = 'application/atom+xml';
    const plain =
      body !== undefined && typeof body === 'object' && !(body instanceof FormData || body instanceof URLSearchParams);
    if (plain) headers['content-type'] = 'application/json';
    const sent = plain ? JSON.stringify(body) : body;
    return read(await fetch(origin.url + path, { method, headers, ...(sent !== undefined && { body: sent }) }));
  }

  return {
    ...origin,
    dataDir,
    get: (path: string, as: Asker = null) => ask('GET', path, as),
    post: (path: string, as: Asker, body?: object | string) => ask('POST', path, as, body),
    put: (path: string, as: Asker, body?: object | string) => ask('PUT', path, as, body),
    delete: (path: string, as: Asker) => ask('DELETE', path, as),
  };
}

/** What a refusal answers. */
export const refusal = (status: number, code: number, msg: string, request: string) => ({
  status,
  body: { code, msg, request },
});

export function authorization(as: Asker): Record<string, string> {
  if (as === null) return {};
  return { authorization: `Bearer ${typeof as === 'string' ? `demo-${as}` : as.token}` };
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

/** A test that makes one does not come to remove it. */
const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-'));
  directories.push(directory);
  return directory;
}

/** A picture of this many bytes: a format's first bytes, then nothing. */
export function picture(kind: keyof typeof firstBytes = 'png', bytes = 200): Blob {
  const content = Buffer.alloc(bytes);
  Buffer.from(firstBytes[kind], 'latin1').copy(content);
  return new Blob([content]);
}
const firstBytes = {
  jpg: '\xff\xd8\xff\xe0',
  png: '\x89PNG\r\n\x1a\n',
  gif: 'GIF89a',
  webp: 'RIFF\0\0\0\0WEBPVP8 ',
  html: '<!doctype html>',
};

/** A form of texts and pictures. */
export function form(parts: Record<string, string | Blob>): FormData {
  const data = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') data.set(name, part);
    else data.set(name, part, `${name}.bin`);
  }
  return data;
}

let filled: Promise<string> | undefined;

/** Filled once a run by test/build.ts, or else once a process; then copied. */
function template(): Promise<string> {
  const shared = process.env.FILLED_DATA_DIR;
  filled ??= shared ? Promise.resolve(shared) : fill();
  return filled;
}

async function fill(): Promise<string> {
  const dataDir = temporaryDirectory();
  const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true });
  await origin.close();
  return dataDir;
}
