/** A seeded random generator: the same seed gives the same choices. */

export interface Random {
  /** From 0 to 1, excluding 1. */
  next: () => number;
  /** An integer from `min` to `max`, inclusive. */
  int: (min: number, max: number) => number;
  chance: (share: number) => boolean;
  pick: <T>(from: readonly T[]) => T;
  /** One of the values, with a probability in proportion to its weight. */
  weighted: <T>(from: readonly (readonly [weight: number, value: T])[]) => T;
  /** This many different items of the list, in its order. */
  some: <T>(from: readonly T[], many: number) => T[];
  shuffled: <T>(from: readonly T[]) => T[];
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Mulberry32: small, fast, and good enough for test cases. */
export function createRandom(seed: string | number): Random {
  let state = hashOf(String(seed));
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    chance: (share) => next() < share,
    pick: (from) => from[int(0, from.length - 1)]!,
    weighted: (from) => {
      let left = next() * from.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of from) if ((left -= weight) < 0) return value;
      return from.at(-1)![1];
    },
    some: (from, many) => {
      const left = from.map((_, index) => index);
      const chosen: number[] = [];
      while (chosen.length < many && left.length > 0) chosen.push(left.splice(int(0, left.length - 1), 1)[0]!);
      return chosen.sort((a, b) => a - b).map((index) => from[index]!);
    },
    shuffled: (from) => {
      const left = [...from];
      for (let at = left.length - 1; at > 0; at--) {
        const other = int(0, at);
        [left[at], left[other]] = [left[other]!, left[at]!];
      }
      return left;
    },
  };
}
