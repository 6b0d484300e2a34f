/** A text as an array of numbers: to ask a string for one character after another costs several times as much. */

export interface Codes {
  /** The UTF-16 code units of a text and a 0 behind them. */
  readonly units: Uint16Array;
  /** The same memory. */
  readonly view: DataView;
  readonly bytes: Buffer;
  /** Of the text. */
  length: number;
}

const createCodes = (capacity: number): Codes => {
  const units = new Uint16Array(capacity);
  return { units, view: new DataView(units.buffer), bytes: Buffer.from(units.buffer), length: 0 };
};

/** Longer arrays are made for one text and let go. */
const KEPT_MAX = 1 << 17;
let kept = createCodes(1 << 13);

/** Good until the next call. */
export function codesOf(text: string): Codes {
  let codes = kept;
  if (text.length >= kept.units.length) {
    codes = createCodes(1 << (32 - Math.clz32(text.length)));
    if (codes.units.length <= KEPT_MAX) kept = codes;
  }
  codes.bytes.write(text, 0, 'utf16le');
  if (!isLittleEndian) codes.bytes.swap16();
  codes.units[text.length] = 0;
  codes.length = text.length;
  return codes;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** A piece of text that others are compared to, four units at a time. */
export interface Piece {
  readonly length: number;
  readonly fours: Float64Array;
  /** The last four, which may be of the last but one as well. */
  readonly last: number;
  /** All units, where they are less than four. */
  readonly few: readonly number[];
}

const FOUR = 4;

export function pieceOf({ units, view }: Codes, from: number, to: number): Piece {
  const length = to - from;
  const fours = new Float64Array(Math.floor(length / FOUR));
  for (let i = 0; i < fours.length; i++) fours[i] = fourAt(view, from + FOUR * i);
  const isShort = length < FOUR;
  return {
    length,
    fours,
    last: isShort ? 0 : fourAt(view, to - FOUR),
    few: isShort ? [...units.subarray(from, to)] : [],
  };
}

/** Equal numbers are equal units; those that make no number equal nothing, and a piece that holds them is never found. */
const fourAt = (view: DataView, at: number) => view.getFloat64(2 * at, true);

/** Whether the piece stands there. */
export function standsAt({ units, view, length }: Codes, at: number, piece: Piece): boolean {
  if (at + piece.length > length) return false;
  if (piece.length < FOUR) {
    for (let i = 0; i < piece.few.length; i++) if (units[at + i] !== piece.few[i]) return false;
    return true;
  }
  const { fours } = piece;
  for (let i = 0; i < fours.length; i++) if (fourAt(view, at + FOUR * i) !== fours[i]) return false;
  return fourAt(view, at + piece.length - FOUR) === piece.last;
}
