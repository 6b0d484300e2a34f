/** Values that belong to owners. An owner with too many loses its oldest. */
export interface OwnedCache<Value> {
  get: (owner: string, name: string) => Value | undefined;
  set: (owner: string, name: string, value: Value) => void;
  delete: (owner: string, name: string) => void;
}

interface Limits<Value> {
  ofOwner: number;
  /** The most of all owners together. Beyond it, the owner with the most loses its oldest. */
  ofAll: number;
  sizeOf?: (value: Value) => number;
}

interface Owned<Value> {
  /** In the order in which they were written. */
  readonly values: Map<string, Value>;
  size: number;
}

export function createOwnedCache<Value>({ ofOwner, ofAll, sizeOf = () => 1 }: Limits<Value>): OwnedCache<Value> {
  const owners = new Map<string, Owned<Value>>();
  let size = 0;

  function remove(owner: string, name: string): void {
    const owned = owners.get(owner);
    const value = owned?.values.get(name);
    if (!owned || value === undefined) return;
    owned.values.delete(name);
    owned.size -= sizeOf(value);
    size -= sizeOf(value);
    if (owned.values.size === 0) owners.delete(owner);
  }

  const removeOldest = (owner: string): void => remove(owner, owners.get(owner)!.values.keys().next().value!);

  function largest(): string {
    let [found, most] = ['', 0];
    for (const [owner, owned] of owners) if (owned.size > most) [found, most] = [owner, owned.size];
    return found;
  }

  return {
    get: (owner, name) => owners.get(owner)?.values.get(name),
    set(owner, name, value) {
      remove(owner, name);
      const owned = owners.get(owner) ?? { values: new Map<string, Value>(), size: 0 };
      owners.set(owner, owned);
      owned.values.set(name, value);
      owned.size += sizeOf(value);
      size += sizeOf(value);
      while ((owners.get(owner)?.size ?? 0) > ofOwner) removeOldest(owner);
      while (size > ofAll) removeOldest(largest());
    },
    delete: remove,
  };
}
