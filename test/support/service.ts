import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEachFile, afterEachTest, afterUse } from './hooks.ts';
import { dataFolder } from './data-folder.ts';
import { made } from './made.ts';
import { type OriginOptions, openOrigin } from '../../src/origin/server.ts';

export const demoDir = fileURLToPath(new URL('../../demo', import.meta.url));

/** The credential of a request: a demo user or application, a token, or none. */
export type Credential = 'alice' | 'bob' | 'carol' | 'app' | { token: string } | null;

export interface ServiceResponse {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed if the response is JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions check the shape
  body: any;
}
export type Service = Awaited<ReturnType<typeof service>>;

/** An origin with demo data for one test file, on a real socket; it is closed after the tests. */
export async function service(options: Partial<OriginOptions> = {}) {
  const dataDir = await filledDirectory();
  const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true, ...options });
  afterUse(() => origin.close());

  async function request(
    method: string,
    path: string,
    as: Credential = null,
    body?: object | string | FormData | URLSearchParams,
  ): Promise<ServiceResponse> {
    const headers: Record<string, string> = authorization(as);
    if (typeof body === 'string') headers['content-type'] = 'application/atom+xml';
    const plain =
      body !== undefined && typeof body === 'object' && !(body instanceof FormData || body instanceof URLSearchParams);
    if (plain) headers['content-type'] = 'application/json';
    const sent = plain ? JSON.stringify(body) : body;
    const response = await read(
      await fetch(origin.url + path, { method, headers, ...(sent !== undefined && { body: sent }) }),
    );
    // What is deleted before a test may be absent.
    const isSent = method === 'POST' || method === 'PUT';
    return isSent && response.status >= 400 ? watched(response, `${method} ${path}`) : response;
  }

  return {
    ...origin,
    dataDir,
    get: (path: string, as: Credential = null) => request('GET', path, as),
    post: (path: string, as: Credential, body?: object | string) => request('POST', path, as, body),
    put: (path: string, as: Credential, body?: object | string) => request('PUT', path, as, body),
    delete: (path: string, as: Credential) => request('DELETE', path, as),
  };
}

/** Writes (POST, PUT) that were rejected, and of whose responses the test has read nothing. */
const unread = new Set<string>();
afterEachTest(() => {
  const rejected = [...unread];
  unread.clear();
  if (rejected.length > 0) throw new Error(`Rejected, and the test does not look at it:\n${rejected.join('\n')}`);
});

/** A test that goes on after a rejection fails with its text, and not only with what follows from it. */
function watched(response: ServiceResponse, request: string): ServiceResponse {
  const rejected = `${request}: ${response.status} ${response.text}`;
  unread.add(rejected);
  return new Proxy(response, {
    get: (target, name) => {
      if (name !== 'then') unread.delete(rejected);
      return Reflect.get(target, name);
    },
    ownKeys: (target) => {
      unread.delete(rejected);
      return Reflect.ownKeys(target);
    },
  });
}

/** The expected response to a rejected request. */
export const rejection = (status: number, code: number, msg: string, request: string) => ({
  status,
  body: { code, msg, request },
});

export function authorization(as: Credential): Record<string, string> {
  if (as === null) return {};
  return { authorization: `Bearer ${typeof as === 'string' ? `demo-${as}` : as.token}` };
}

export async function read(response: Response): Promise<ServiceResponse> {
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

/** Removed after the tests, also of a test that fails. */
const directories: string[] = [];
afterEachFile(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(dataFolder(), 'catalog-'));
  directories.push(directory);
  return directory;
}

/** A copy of the demo data. */
export async function filledDirectory(): Promise<string> {
  const directory = temporaryDirectory();
  cpSync(await made('demo'), directory, { recursive: true });
  return directory;
}

/** A file of this size that has the signature of the format and is otherwise empty. */
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

/** A form of texts and files. */
export function form(parts: Record<string, string | Blob>): FormData {
  const data = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') data.set(name, part);
    else data.set(name, part, `${name}.bin`);
  }
  return data;
}
