/**
 * Reads the Atom that the service is known to send, in one pass and without a tree. It looks at all of the text, what nobody wants included, for it
 * may never take what the parser would refuse; whatever it is not sure of (nesting it does not know, a namespace that is not the interface's,
 * the same element twice, an entity beyond XML's five, a carriage return...) it leaves to the parser.
 */
import { textOf } from '../utf8.ts';
import { type Piece, pieceOf, standsAt } from './codes.ts';
import {
  type Cursor,
  GREATER,
  LESS,
  SLASH,
  addValue,
  createCursor,
  doubt,
  endOfRun,
  forget,
  giveUp,
  passValue,
  valueAt,
  withReferences,
} from './cursor.ts';
import {
  type Parts,
  createParts,
  place,
  placeOfAttribute,
  placeOfLink,
  put,
  textElements,
  textNames,
} from './parts.ts';
import { type Tag, readTag } from './tag.ts';
import { type Holder, type Rest, type State, type Ways, createWays, isFull, learn, stateOf, walk } from './ways.ts';
import { type Namespace, isBlank, isWritable, namespaces, trim } from './xml.ts';

/** What is in the root element of a document in UTF-8, where the parser would find the same; undefined where that is not certain. */
export function scan(document: Uint8Array, root: 'entry' | 'feed'): Parts | undefined {
  const cursor = createCursor(document);
  try {
    const head = headOf(cursor, root);
    const parts = createParts();
    readInside({ cursor, head }, head.ways.first, parts);
    let { at } = cursor;
    while (isBlank(cursor.codes.bytes[at]!)) at++;
    if (at !== document.length) giveUp();
    return cursor.isSuspect && !isPlain(cursor, at) ? undefined : parts;
  } catch (error) {
    if (error === doubt) return undefined;
    throw error;
  }
}

/** Whether every character up to there is one that XML can carry, and none a line end that it would change. */
const isPlain = (cursor: Cursor, end: number): boolean => {
  const text = textOf(cursor.codes.bytes, 0, end);
  return !text.includes('\r') && isWritable(text);
};

const [BANG, QUESTION] = [33, 63];

/** A document up to the end of its root's tag. */
interface Head {
  piece: Piece;
  root: string;
  spaces: Spaces;
  ways: Ways;
  /** When it was met last, by the count of all that were. */
  met: number;
}

interface Scan {
  cursor: Cursor;
  head: Head;
}

/** A service begins its documents in a few ways; where there are more, the one that was not met for longest makes room. */
const heads: Head[] = [];
let meetings = 0;
const HEADS_MAX = 8;
const HEAD_LENGTH_MAX = 2_000;

function headOf(cursor: Cursor, root: 'entry' | 'feed'): Head {
  const head = knownHead(cursor, root) ?? readHead(cursor, root);
  head.met = ++meetings;
  if (isFull(head.ways)) head.ways = createWays(root, head.ways.first.name);
  cursor.at = head.piece.length;
  return head;
}

function knownHead({ codes }: Cursor, root: 'entry' | 'feed'): Head | undefined {
  for (const head of heads) if (head.root === root && standsAt(codes, 0, head.piece)) return head;
  return undefined;
}

function readHead(cursor: Cursor, root: 'entry' | 'feed'): Head {
  const { codes, text } = cursor;
  if (text.startsWith(BYTE_ORDER_MARK)) cursor.at = BYTE_ORDER_MARK.length;
  if (text.startsWith('<?xml', cursor.at)) skipDeclaration(cursor);
  skipToTag(cursor);
  const tag = readTag(cursor);
  if (tag.local !== root || tag.isEmpty) giveUp(); // a root that holds nothing is no answer we know
  // Now, not in the end: other texts will be known by this head, and nobody looks at it again.
  if (cursor.isSuspect && !isPlain(cursor, cursor.at)) giveUp();
  const piece = pieceOf(codes, 0, cursor.at);
  const head: Head = { piece, root, spaces: declaredIn(tag), ways: createWays(root, copyOf(tag.name)), met: 0 };
  if (piece.length > HEAD_LENGTH_MAX) return head;
  if (heads.length === HEADS_MAX) {
    const oldest = heads.reduce((one, other) => (other.met < one.met ? other : one));
    heads.splice(heads.indexOf(oldest), 1);
  }
  heads.push(head);
  return head;
}

/** As it stands in UTF-8, a character for each byte. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** A slice would keep the whole text. */
const copyOf = (slice: string): string => Buffer.from(slice, 'latin1').toString('latin1');

const declaration =
  /^<\?xml version=(["'])1\.\d\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>$/i;

/** A document that says it is written in anything but UTF-8 is none we know. */
function skipDeclaration(cursor: Cursor): void {
  const { text, at } = cursor;
  cursor.at = endOf(text, '?>', at);
  if (!declaration.test(text.slice(at, cursor.at))) giveUp();
}

/** The prefixes of each namespace, `''` for none, as the root declares them. */
type Spaces = ReadonlyMap<Namespace, readonly string[]>;

function declaredIn({ attributes }: Tag): Spaces {
  const declared = attributes.filter(({ name }) => name === 'xmlns' || name.startsWith('xmlns:'));
  return new Map(
    (Object.keys(namespaces) as Namespace[]).map((space) => [
      space,
      declared.filter(({ value }) => value === namespaces[space]).map(({ name }) => copyOf(name.slice(6))),
    ]),
  );
}

/** Reads what is in a holder, from behind its tag to behind the one that ends it. */
function readInside(scan: Scan, first: State, parts: Parts): void {
  const { cursor } = scan;
  for (let state: State | undefined = first; state !== undefined;) {
    const { places, opened, inside, then }: Rest = walk(cursor, state) ?? readOn(scan, state);
    for (let i = 0; i < places.length; i++) if (places[i]! >= 0) put(parts, places[i]!, valueAt(cursor, i));
    if (opened !== undefined) {
      const inner = createParts();
      if (opened === 'entry') parts.entries.push(inner);
      else parts.author = inner;
      if (inside) readInside(scan, inside, inner);
    }
    state = then;
  }
}

/** Reads with care to the next rest, and keeps the way. */
function readOn({ cursor, head: { spaces, ways } }: Scan, state: State): Rest {
  const { bytes } = cursor.codes;
  const from = cursor.at;
  const places: number[] = [];
  const marks: number[] = [];
  const pass = (start: number, mark: number, at: number | undefined) => {
    places.push(at ?? NOWHERE);
    marks.push(mark);
    return passValue(cursor, start, mark);
  };
  const rested = (rest: Rest) => {
    if (!cursor.isSuspect) learn(ways, cursor, state, from, marks, rest);
    return rest;
  };
  let { seen } = state;
  forget(cursor.values);
  for (;;) {
    skipToTag(cursor);
    if (bytes[cursor.at + 1] === SLASH) {
      readEnd(cursor, state.name);
      return rested({ places, opened: undefined, inside: undefined, then: undefined });
    }
    const tag = readTag(cursor);
    if (tag.attributes.some(({ name }) => name.startsWith('xmlns'))) giveUp();
    const known = elements.get(tag.local);
    if (known) {
      if (!spaces.get(known.space)!.includes(tag.prefix)) giveUp();
      if ((seen & known.bit) !== 0) giveUp(); // which of the two counts is the parser's to say
      seen |= known.bit;
    }
    const { opens: opened, decidedBy, placesOf = nowhere } = known ?? unknown;
    // What decides where the others go belongs to the markup.
    const deciding = tag.attributes.find(({ name }) => name === decidedBy);
    const { text, values } = placesOf(deciding?.value);
    for (const attribute of tag.attributes)
      if (attribute !== deciding) pass(attribute.start, attribute.mark, values?.get(attribute.name));
    if (opened) {
      if (opened === 'entry' ? state.holder !== 'feed' : state.holder === 'author') giveUp();
      return rested({
        places,
        opened,
        inside: tag.isEmpty ? undefined : stateOf(ways, opened, copyOf(tag.name), 0),
        then: stateOf(ways, state.holder, state.name, seen),
      });
    }
    if (tag.isEmpty) {
      if (text !== undefined) pass(cursor.at, 0, text);
      continue;
    }
    const end = endOfRun(cursor, cursor.at, LESS);
    if (bytes[end + 1] === SLASH) {
      cursor.at = pass(cursor.at, LESS, text);
    } else {
      places.push(text ?? NOWHERE);
      addValue(cursor.values, end, end, false, readPieces(cursor));
    }
    readEnd(cursor, tag.name);
  }
}

/** Where the values of an element go. */
interface Places {
  text?: number | undefined;
  /** By the name of the attribute. */
  values?: ReadonlyMap<string, number | undefined>;
}
const NOWHERE = -1;

interface Element {
  space: Namespace;
  /** Of its own where it may be there once; 0 where it may be there often. */
  bit: number;
  opens?: Exclude<Holder, 'feed'>;
  /** The attribute that says what the element is about. */
  decidedBy?: string;
  placesOf?: (decided: string | undefined) => Places;
}

const always = (text: number | undefined, ...values: [string, number][]) => {
  const places = { text, values: new Map(values) };
  return () => places;
};
const nowhere = always(undefined);
const unknown: Partial<Element> = {};

const elements = new Map<string, Element>([
  ...textNames.map((name, at): [string, Element] => [
    name,
    { space: textElements[name], bit: 1 << at, placesOf: always(place[name]) },
  ]),
  ['author', { space: 'atom', bit: 1 << 20, opens: 'author' }],
  ['entry', { space: 'atom', bit: 0, opens: 'entry' }],
  ['location', { space: 'db', bit: 1 << 21, placesOf: always(place.location, ['id', place.locationId]) }],
  [
    'when',
    {
      space: 'gd',
      bit: 1 << 22,
      placesOf: always(undefined, ['startTime', place.startTime], ['endTime', place.endTime]),
    },
  ],
  ['where', { space: 'gd', bit: 1 << 23, placesOf: always(undefined, ['valueString', place.where]) }],
  ['category', { space: 'atom', bit: 0, placesOf: always(undefined, ['term', place.term]) }],
  [
    'link',
    { space: 'atom', bit: 0, decidedBy: 'rel', placesOf: (rel) => ({ values: new Map([['href', placeOfLink(rel)]]) }) },
  ],
  ['attribute', { space: 'db', bit: 0, decidedBy: 'name', placesOf: (name) => ({ text: placeOfAttribute(name) }) }],
]);

/** Reads a text in which comments, instructions or CDATA stand between. */
function readPieces(cursor: Cursor): string {
  const {
    text,
    codes: { bytes },
  } = cursor;
  let whole = '';
  for (;;) {
    const end = endOfRun(cursor, cursor.at, LESS);
    whole += withReferences(textOf(bytes, cursor.at, end));
    cursor.at = end;
    if (bytes[end + 1] === SLASH) return trim(whole);
    if (text.startsWith('<![CDATA[', end)) {
      cursor.isSuspect = true;
      cursor.at = endOf(text, ']]>', end + 9);
      whole += textOf(bytes, end + 9, cursor.at - 3);
    } else skipRemark(cursor);
  }
}

/** Goes over the tag that ends the element of that name. */
function readEnd(cursor: Cursor, name: string): void {
  const {
    text,
    codes: { bytes },
    at,
  } = cursor;
  const end = at + 2 + name.length;
  if (!text.startsWith(name, at + 2) || bytes[end] !== GREATER) giveUp();
  cursor.at = end + 1;
}

/** Goes to the next tag, over white space, comments and instructions. */
function skipToTag(cursor: Cursor): void {
  const { bytes } = cursor.codes;
  for (;;) {
    while (isBlank(bytes[cursor.at]!)) cursor.at++;
    if (bytes[cursor.at] !== LESS) giveUp();
    const next = bytes[cursor.at + 1];
    if (next !== BANG && next !== QUESTION) return;
    skipRemark(cursor);
  }
}

/** Goes behind a comment or an instruction. */
function skipRemark(cursor: Cursor): void {
  const { text, at } = cursor;
  cursor.isSuspect = true;
  if (text.startsWith('<!--', at)) cursor.at = endOf(text, '-->', at + 4);
  else if (text.startsWith('<?', at)) cursor.at = endOf(text, '?>', at + 2);
  else giveUp();
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? giveUp() : found + mark.length;
}
