/** Characters of an address that servers and proxies on the way accept. */
const ADDRESS_MAX = 4_000;

/**
 * GraphiQL writes the document into the address at every change. A long one is left out, because the page could not be loaded again:
 * its tab is stored anyway.
 */
export function boundAddress() {
  for (const name of ['replaceState', 'pushState']) {
    const original = history[name].bind(history);
    history[name] = (state, unused, address) => original(state, unused, address && withinBound(address));
  }
}

function withinBound(address) {
  const url = new URL(address, location.href);
  if (url.href.length <= ADDRESS_MAX) return address;
  for (const name of ['query', 'variables', 'headers']) url.searchParams.delete(name);
  return url.href;
}
