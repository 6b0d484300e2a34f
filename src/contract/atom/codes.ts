/** A text as an array of numbers: to ask a string for one character after another costs several times as much. */

/** Longer arrays are made for one text and let go. */
const KEPT_MAX = 1 << 17;
let kept = new Uint16Array(1 << 13);
let keptBytes = Buffer.from(kept.buffer);

/** The UTF-16 code units of a text and a 0 behind them; good until the next call. */
export function codesOf(text: string): Uint16Array {
  let codes = kept;
  let bytes = keptBytes;
  if (text.length >= kept.length) {
    codes = new Uint16Array(1 << (32 - Math.clz32(text.length)));
    bytes = Buffer.from(codes.buffer);
    if (codes.length <= KEPT_MAX) [kept, keptBytes] = [codes, bytes];
  }
  bytes.write(text, 0, 'utf16le');
  if (!isLittleEndian) bytes.swap16();
  codes[text.length] = 0;
  return codes;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Whether that piece of a text is this name. */
export function isAt(codes: Uint16Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (codes[from + i] !== name.charCodeAt(i)) return false;
  return true;
}

/** What a piece of a text is the name of; found without cutting it out. */
export type Lookup<Value> = (codes: Uint16Array, from: number, to: number) => Value | undefined;

export function createLookup<Value>(entries: readonly (readonly [string, Value])[]): Lookup<Value> {
  interface Entry {
    codes: Uint16Array;
    value: Value;
    next: Entry | undefined;
  }
  const slot = (first: number, length: number) => (first * 16 + length) & 511;
  const table: (Entry | undefined)[] = Array.from({ length: 512 }, () => undefined);
  for (const [name, value] of entries) {
    const at = slot(name.charCodeAt(0), name.length);
    const codes = Uint16Array.from(name, (character) => character.charCodeAt(0));
    table[at] = { codes, value, next: table[at] };
  }
  return (codes, from, to) => {
    const length = to - from;
    for (let entry = table[slot(codes[from]!, length)]; entry !== undefined; entry = entry.next) {
      if (entry.codes.length !== length) continue;
      let i = 0;
      while (i < length && codes[from + i] === entry.codes[i]) i++;
      if (i === length) return entry.value;
    }
    return undefined;
  };
}
