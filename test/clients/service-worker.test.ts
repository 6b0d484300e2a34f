/** The service worker of examples/offline-apollo, with a network and a storage of the test. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const HOST = 'https://app.example';
const source = readFileSync('examples/offline-apollo/public/sw.js', 'utf8');
const pageWith = (release: string) => `<link href="/icon.svg"><script src="/assets/${release}.js"></script>`;

/** A worker in a browser. `network` has the bodies by their addresses; without one there is no network. */
function worker() {
  const state = { network: undefined as Record<string, string> | undefined, isFull: false, bytesOfCover: 1 };
  const pathOf = (request: string | { url: string }) =>
    new URL(typeof request === 'string' ? request : request.url, HOST);
  const requests: string[] = [];
  const fetch = async (request: string | { url: string }) => {
    const { href } = pathOf(request);
    if (!state.network) throw new TypeError('no network');
    requests.push(href);
    const body = state.network[href.replace(HOST, '')];
    return new Response(body ?? 'not found', { status: body === undefined ? 404 : 200 });
  };
  const stores = new Map<string, Map<string, Response>>();
  const open = async (name: string) => {
    const rows = stores.get(name) ?? new Map<string, Response>();
    stores.set(name, rows);
    const put = async (request: string | { url: string }, response: Response) => {
      if (state.isFull) throw new Error('no space');
      rows.set(pathOf(request).href, response);
    };
    return {
      put,
      addAll: async (paths: string[]) => {
        for (const path of paths) await put(path, await fetch(path));
      },
      match: async (request: string | { url: string }) => rows.get(pathOf(request).href)?.clone(),
      keys: async () => [...rows.keys()].map((url) => ({ url })),
      delete: async (request: string | { url: string }) => rows.delete(pathOf(request).href),
    };
  };
  const match = async (request: string | { url: string }) => {
    for (const rows of stores.values()) {
      const found = rows.get(pathOf(request).href);
      if (found) return found.clone();
    }
    return undefined;
  };
  const listeners = new Map<string, (event: object) => void>();
  const self = {
    addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
    skipWaiting: () => Promise.resolve(),
  };
  const estimate = async () => ({ usage: state.bytesOfCover * (stores.get('covers')?.size ?? 0), quota: 100 });
  const given = {
    self,
    fetch,
    caches: { open, match },
    URL,
    location: { origin: HOST },
    navigator: { storage: { estimate } },
  };
  runInNewContext(source, given);
  /** The response to an event, once all that it waits for is done. */
  async function dispatch(name: string, event: object = {}): Promise<string | undefined> {
    const waiting: Promise<unknown>[] = [];
    let response: Promise<Response> | undefined;
    const given = {
      waitUntil: (each: Promise<unknown>) => waiting.push(each),
      respondWith: (each: Promise<Response>) => (response = each),
    };
    listeners.get(name)!({ ...event, ...given });
    const text = await (await response)?.text();
    await Promise.all(waiting);
    return text;
  }
  const get = (address: string, more: { mode?: string; destination?: string } = {}) =>
    dispatch('fetch', { request: { url: new URL(address, HOST).href, method: 'GET', ...more } });
  return {
    state,
    requests,
    stores,
    install: () => dispatch('install'),
    get,
    visit: () => get('/', { mode: 'navigate' }),
  };
}

const release = (name: string) => ({
  '/': pageWith(name),
  [`/assets/${name}.js`]: name,
  '/icon.svg': `icon of ${name}`,
});

test('without a network the app is that of the last visit, not of the first', async () => {
  const { state, requests, stores, install, get, visit } = worker();
  state.network = release('one');
  await install();
  state.network = release('two');
  expect(await visit()).toBe(pageWith('two'));
  requests.length = 0;
  await visit();
  expect(requests).not.toContain(`${HOST}/assets/two.js`);
  state.network = undefined;
  expect(await visit()).toBe(pageWith('two'));
  expect(await get('/assets/two.js')).toBe('two');
  expect(await get('/icon.svg')).toBe('icon of two');
  expect([...stores.get('files')!.keys()].sort()).toEqual(
    ['/', '/assets/two.js', '/icon.svg'].map((path) => HOST + path),
  );
});

test('a page that is no page of the app is not stored as one', async () => {
  const { state, install, get, visit } = worker();
  state.network = {};
  await expect(install()).rejects.toThrow('404');
  state.network = { ...release('one'), '/graphql': 'GraphiQL' };
  await install();
  expect(await get('/graphql', { mode: 'navigate' })).toBe('GraphiQL');
  state.network = {};
  expect(await visit()).toBe('not found');
  state.network = undefined;
  expect(await visit()).toBe(pageWith('one'));
});

test('covers leave half of the space to the rest, also where many are loaded at once', async () => {
  const { state, stores, get } = worker();
  const addresses = Array.from({ length: 20 }, (_, at) => `https://covers.example/${at}.jpg`);
  state.network = Object.fromEntries(addresses.map((address) => [address, address]));
  state.bytesOfCover = 10;
  const shown = await Promise.all(addresses.map((address) => get(address, { destination: 'image' })));
  expect(shown).toEqual(addresses);
  const stored = [...stores.get('covers')!.keys()];
  expect(stored.length).toBeLessThanOrEqual(6);
  expect(stored.at(-1)).toBe(addresses.at(-1));
});

test('a device without space shows the pages and covers of the network', async () => {
  const { state, install, get, visit } = worker();
  state.network = release('one');
  await install();
  state.isFull = true;
  state.network = { ...release('two'), 'https://covers.example/1.jpg': 'a cover' };
  expect(await visit()).toBe(pageWith('two'));
  expect(await get('https://covers.example/1.jpg', { destination: 'image' })).toBe('a cover');
  state.network = undefined;
  expect(await visit()).toBe(pageWith('one'));
  expect(await get('/assets/one.js')).toBe('one');
});
