// Files of the app and covers, for a start without a network. Data are the app's own business: it keeps them in IndexedDB.
const FILES = 'files';
const COVERS = 'covers';
const COVERS_MAX = 200;

self.addEventListener('install', (event) => {
  const stored = fetch('/', { cache: 'no-store' }).then(storeFiles);
  event.waitUntil(stored.then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

/** The page, and the files that it names. The names in /assets/ have hashes: what is stored of them never changes. */
async function storeFiles(response) {
  if (!response.ok) throw new Error(`The page has the status ${response.status}.`);
  const page = await response.clone().text();
  const named = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
  const files = await caches.open(FILES);
  const stored = (await files.keys()).map(({ url }) => new URL(url).pathname);
  await files.addAll(named.filter((path) => !path.startsWith('/assets/') || !stored.includes(path)));
  await files.put('/', response);
  for (const path of stored) if (!['/', ...named].includes(path)) await files.delete(path);
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const url = new URL(request.url);
  if (request.mode === 'navigate') event.respondWith(page(event, url));
  else if (request.destination === 'image' && url.origin !== location.origin) event.respondWith(cover(event));
  else if (url.origin === location.origin && !/^\/(graphql|rest)/.test(url.pathname))
    event.respondWith(caches.match(request, { ignoreVary: true }).then((stored) => stored ?? fetch(request)));
});

/** Each visit stores the release that it shows: this file may be the same for all releases. */
async function page(event, url) {
  const response = await fetch(event.request).catch(() => undefined);
  if (!response) return caches.match('/');
  if (url.pathname === '/') event.waitUntil(storeFiles(response.clone()).catch(asBefore));
  return response;
}

/** What cannot be stored is not: what was stored before stays. */
const asBefore = () => undefined;

let storing = Promise.resolve();

async function cover(event) {
  const { request } = event;
  const covers = await caches.open(COVERS);
  const stored = await covers.match(request);
  if (stored) return stored;
  const response = await fetch(request);
  const copy = response.clone();
  storing = storing.then(() => storeCover(covers, request, copy)).catch(asBefore);
  event.waitUntil(storing);
  return response;
}

/** One after the other: Chromium counts 7 MB for a cover of another host, and the queue of writes needs space too. */
async function storeCover(covers, request, response) {
  const [oldest, ...others] = await covers.keys();
  const { usage, quota } = await navigator.storage.estimate();
  if (others.length + 1 >= COVERS_MAX || usage > quota / 2) await covers.delete(oldest);
  await covers.put(request, response);
}
