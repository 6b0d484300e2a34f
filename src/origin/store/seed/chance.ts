export type Chance = ReturnType<typeof createChance>;

/** Pseudo-random numbers, the same on every machine. */
export function createChance(seed: string) {
  let state = 0x811c9dc5;
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  /** 0 <= n < below */
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    between: (from: number, to: number) => from + int(to - from + 1),
  };
}
