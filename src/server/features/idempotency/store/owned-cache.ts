/** Values that belong to owners. An owner with too many loses those that were written first. */
export interface OwnedCache<Value> {
  get: (name: string) => Value | undefined;
  set: (owner: string, name: string, value: Value) => void;
  delete: (name: string) => void;
}

interface Limits<Value> {
  ofOwner: number;
  /** The most of all owners together. Beyond it, the owner with the most loses its oldest. */
  ofAll: number;
  sizeOf?: (value: Value) => number;
}

/** In the order in which they were written. */
interface Owned {
  readonly names: Set<string>;
  size: number;
}

export function createOwnedCache<Value>({ ofOwner, ofAll, sizeOf = () => 1 }: Limits<Value>): OwnedCache<Value> {
  const values = new Map<string, { readonly value: Value; readonly owner: string }>();
  const owners = new Map<string, Owned>();
  let size = 0;

  function remove(name: string): void {
    const found = values.get(name);
    if (!found) return;
    values.delete(name);
    const owned = owners.get(found.owner)!;
    owned.names.delete(name);
    if (owned.names.size === 0) owners.delete(found.owner);
    count(owned, -sizeOf(found.value));
  }
  function count(owned: Owned, more: number): void {
    owned.size += more;
    size += more;
  }

  const removeOldest = ({ names }: Owned): void => remove(names.values().next().value!);

  function largest(): Owned {
    let most: Owned | undefined;
    for (const owned of owners.values()) if (owned.size > (most?.size ?? -1)) most = owned;
    return most!;
  }

  return {
    get: (name) => values.get(name)?.value,
    set(owner, name, value) {
      remove(name);
      const owned = owners.get(owner) ?? { names: new Set<string>(), size: 0 };
      owners.set(owner, owned);
      owned.names.add(name);
      values.set(name, { value, owner });
      count(owned, sizeOf(value));
      while (owned.size > ofOwner) removeOldest(owned);
      while (size > ofAll) removeOldest(largest());
    },
    delete: remove,
  };
}
