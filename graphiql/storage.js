/** Where a browser gives pages no storage, GraphiQL would render nothing: it gets one in memory. */
export function ensureStorage() {
  try {
    localStorage.getItem('graphiql:tabState');
  } catch {
    Object.defineProperty(window, 'localStorage', { value: storageInMemory(), configurable: true });
  }
}

const nameOf = (what) => `catalog-graphql:${what}`;

/** What the page has stored; null if there is nothing. */
export const stored = (what) => localStorage.getItem(nameOf(what));

export function store(what, value) {
  try {
    localStorage.setItem(nameOf(what), value);
  } catch {
    // The storage is full: the page works without.
  }
}

function storageInMemory() {
  const values = new Map();
  return {
    getItem: (key) => values.get(String(key)) ?? null,
    setItem: (key, value) => void values.set(String(key), String(value)),
    removeItem: (key) => void values.delete(String(key)),
    clear: () => values.clear(),
    key: (at) => [...values.keys()][at] ?? null,
    get length() {
      return values.size;
    },
  };
}
