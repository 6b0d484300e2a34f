/** The bytes of a document: to look at them one after another, and to compare them eight at a time, costs a fraction of what a string does. */

export interface Codes {
  /** Those of the document and a 0 behind them. */
  readonly bytes: Buffer;
  /** The same memory. */
  readonly view: DataView;
  /** Of the document. */
  length: number;
}

const createCodes = (capacity: number): Codes => {
  const bytes = Buffer.alloc(capacity);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, capacity), length: 0 };
};

/** Longer arrays are made for one document and let go. */
const KEPT_MAX = 1 << 18;
let kept = createCodes(1 << 14);

/** Good until the next call. */
export function codesOf(document: Uint8Array): Codes {
  const { length } = document;
  let codes = kept;
  if (length >= kept.bytes.length) {
    codes = createCodes(1 << (32 - Math.clz32(length)));
    if (codes.bytes.length <= KEPT_MAX) kept = codes;
  }
  codes.bytes.set(document);
  codes.bytes[length] = 0;
  codes.length = length;
  return codes;
}

/** A piece of a document that others are compared to, eight bytes at a time. */
export interface Piece {
  readonly length: number;
  readonly eights: Float64Array;
  /** The last eight, which may be of the last but one as well. */
  readonly last: number;
  /** All bytes, where they are less than eight. */
  readonly few: readonly number[];
}

const EIGHT = 8;

export function pieceOf({ bytes, view }: Codes, from: number, to: number): Piece {
  const length = to - from;
  const eights = new Float64Array(Math.floor(length / EIGHT));
  for (let i = 0; i < eights.length; i++) eights[i] = eightAt(view, from + EIGHT * i);
  const isShort = length < EIGHT;
  return {
    length,
    eights,
    last: isShort ? 0 : eightAt(view, to - EIGHT),
    few: isShort ? [...bytes.subarray(from, to)] : [],
  };
}

/** Equal numbers are equal bytes, for none of XML is 0; those that make no number equal nothing, and a piece that holds them is never found. */
const eightAt = (view: DataView, at: number) => view.getFloat64(at, true);

/** Whether the piece stands there. */
export function standsAt({ bytes, view, length }: Codes, at: number, piece: Piece): boolean {
  if (at + piece.length > length) return false;
  if (piece.length < EIGHT) {
    for (let i = 0; i < piece.few.length; i++) if (bytes[at + i] !== piece.few[i]) return false;
    return true;
  }
  const { eights } = piece;
  for (let i = 0; i < eights.length; i++) if (eightAt(view, at + EIGHT * i) !== eights[i]) return false;
  return eightAt(view, at + piece.length - EIGHT) === piece.last;
}

/** What stands there. Node's own decoder takes four times as long for what is not ASCII and not long. */
export function textOf({ bytes }: Codes, from: number, to: number): string {
  if (to - from > units.length || !isLittleEndian) return bytes.toString('utf8', from, to);
  let count = 0;
  for (let at = from; at < to;) {
    const first = bytes[at++]!;
    if (first < 0x80) units[count++] = first;
    else if (first < 0xe0) units[count++] = ((first & 0x1f) << 6) | (bytes[at++]! & 0x3f);
    else if (first < 0xf0) {
      units[count++] = ((first & 0x0f) << 12) | ((bytes[at++]! & 0x3f) << 6) | (bytes[at++]! & 0x3f);
    } else {
      const rest = ((bytes[at++]! & 0x3f) << 12) | ((bytes[at++]! & 0x3f) << 6) | (bytes[at++]! & 0x3f);
      const beyond = (((first & 0x07) << 18) | rest) - 0x10000;
      units[count++] = 0xd800 | (beyond >> 10);
      units[count++] = 0xdc00 | (beyond & 0x3ff);
    }
  }
  return unitBytes.toString('utf16le', 0, 2 * count);
}
/** The UTF-16 of one text: of no more units than it has bytes. */
const units = new Uint16Array(1 << 12);
const unitBytes = Buffer.from(units.buffer);
const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
