// Files of the app and covers, for a start without a network. Data are the app's own business: it keeps them in IndexedDB.
const FILES = 'files';
const COVERS = 'covers';
const COVERS_MAX = 200;

self.addEventListener('install', (event) => {
  event.waitUntil(storeFiles().then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

/** The page, and the files that it names: their names have hashes, so what is stored never changes. */
async function storeFiles() {
  const response = await fetch('/', { cache: 'no-store' });
  const page = await response.clone().text();
  const named = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
  const files = await caches.open(FILES);
  await files.addAll(named);
  await files.put('/', response);
  for (const request of await files.keys())
    if (!['/', ...named].includes(new URL(request.url).pathname)) await files.delete(request);
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const url = new URL(request.url);
  if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => caches.match('/')));
  else if (request.destination === 'image' && url.origin !== location.origin) event.respondWith(cover(request));
  else if (url.origin === location.origin && !/^\/(graphql|rest)/.test(url.pathname))
    event.respondWith(caches.match(request, { ignoreVary: true }).then((stored) => stored ?? fetch(request)));
});

async function cover(request) {
  const covers = await caches.open(COVERS);
  const stored = await covers.match(request);
  if (stored) return stored;
  const response = await fetch(request);
  await covers.put(request, response.clone());
  const [oldest, ...others] = await covers.keys();
  if (others.length >= COVERS_MAX) await covers.delete(oldest);
  return response;
}
