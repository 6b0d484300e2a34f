/** A sign-in of one's own, as docs/access.md prints it: both ends, over the demo. */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { gql } from '@apollo/client';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { journey } from '../support/journey.ts';
import { listen } from '../support/listen.ts';
import { session } from './session-server.ts';
import { signIn, signOut } from './sign-in.ts';

const { facade } = await journey();
const query = gql`
  {
    user(id: "alice") {
      notes(first: 1) {
        nodes {
          title
        }
      }
    }
  }
`;

/** Sessions of the app with the tokens that they give, in order. */
let sessions: Map<string, string[]>;
const issuer = {
  signIn: async (form: FormData) => {
    if (form.get('password') !== 'right') return undefined;
    sessions.set('kept-1', ['demo-alice']);
    return 'kept-1';
  },
  renew: async (kept: string) => sessions.get(kept)?.shift(),
};
const answer = getRequestListener((request) => session(request, issuer));
const app = await listen(createServer((request, response) => void answer(request, response)));

/** A browser: it keeps cookies, which scripts do not see, and says from which site a page sends. */
let cookies: Map<string, string>;
let lines: string[];
const network = globalThis.fetch;
async function browse(path: string, init: RequestInit = {}, site = 'same-origin') {
  const headers = new Headers(init.headers);
  lines.push(`${init.method} ${path} ${headers.get('authorization') ?? ''}`.trim());
  if (path !== '/session') return network(facade.url + path, init);
  headers.set('sec-fetch-site', site);
  headers.set('cookie', [...cookies].map((each) => each.join('=')).join('; '));
  const response = await network(app + path, { ...init, headers });
  const [pair = '', ...attributes] = response.headers.get('set-cookie')?.split('; ') ?? [];
  if (pair === '') return response;
  expect(attributes).toEqual(expect.arrayContaining(['Path=/session', 'HttpOnly', 'Secure', 'SameSite=Strict']));
  const [name = '', value = ''] = pair.split('=');
  if (attributes.includes('Max-Age=0')) cookies.delete(name);
  else cookies.set(name, value);
  return response;
}
beforeEach(() => {
  [sessions, cookies, lines] = [new Map(), new Map(), []];
  vi.stubGlobal('fetch', browse);
  onTestFinished(() => void vi.unstubAllGlobals());
});

const form = (password: string) => {
  const filled = new FormData();
  filled.set('password', password);
  return filled;
};
const signedOut = vi.fn();
const ask = (client: Awaited<ReturnType<typeof signIn>>) =>
  client.query({ query, fetchPolicy: 'network-only', errorPolicy: 'all' });

test('a user signs in, goes on after the page is loaded again, and signs out', async () => {
  await expect(signIn(signedOut)).rejects.toThrow('Sign in.');
  await expect(signIn(signedOut, form('wrong'))).rejects.toThrow('Sign in.');
  const client = await signIn(signedOut, form('right'));
  expect(await ask(client)).toMatchObject({ data: { user: { notes: { nodes: [{}] } } } });
  client.stop();

  sessions.get('kept-1')!.push('demo-alice');
  const later = await signIn(signedOut);
  expect((await ask(later)).error).toBeUndefined();
  await signOut(later);
  later.stop();
  expect(cookies.size).toBe(0);
  await expect(signIn(signedOut)).rejects.toThrow('Sign in.');
  expect(lines.filter((line) => line.includes('demo-alice'))).toEqual(Array(2).fill('POST /graphql Bearer demo-alice'));
});

test('a token that has ended is renewed by the session, and where that has ended too the user is signed out', async () => {
  (await signIn(signedOut, form('right'))).stop();
  sessions.set('kept-1', ['ended', 'demo-alice', 'ended']);
  for (const message of [undefined, 'Sign in.']) {
    expect(signedOut).not.toHaveBeenCalled();
    const client = await signIn(signedOut);
    onTestFinished(() => client.stop());
    expect((await ask(client)).error?.message).toBe(message);
  }
  expect(signedOut).toHaveBeenCalledOnce();
  expect(cookies.size).toBe(0);
});

test('a page of another site neither signs in nor out', async () => {
  const client = await signIn(signedOut, form('right'));
  client.stop();
  for (const init of [{ method: 'POST', body: form('right') }, { method: 'POST' }, { method: 'DELETE' }])
    expect((await browse('/session', init, 'cross-site')).status).toBe(403);
  expect([...cookies.values()]).toEqual(['kept-1']);
});
