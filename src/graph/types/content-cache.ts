/**
 * The blocks of texts, as one operation selects them. People write texts of any length: each is parsed once, however many aliases ask for
 * its blocks. Where the answer comes in pieces it is measured when it is made, so blocks are counted before.
 */
import { responseTooLarge, isFull, roomFor } from '../engine/response-size.ts';
import type { ContentBlockShape } from './content-blocks.ts';
import type { Context } from '../engine/builder.ts';

interface Made {
  photos: unknown;
  pieces: ContentBlockShape[];
  /** Blocks, and the runs of text in them. */
  size: number;
}

interface OfOperation {
  byMarkup: Map<BlockParser, Map<string, Made>>;
  /** Of all blocks that were selected. */
  size: number;
}

/** Makes the blocks of a text with these pictures. */
export type BlockParser = (content: string, photos: unknown) => ContentBlockShape[];

const operations = new WeakMap<Context, OfOperation>();

export function parseBlocksOnce(
  context: Context,
  markup: BlockParser,
  content: string,
  photos: unknown,
): ContentBlockShape[] {
  let operation = operations.get(context);
  if (!operation) operations.set(context, (operation = { byMarkup: new Map(), size: 0 }));
  let texts = operation.byMarkup.get(markup);
  if (!texts) operation.byMarkup.set(markup, (texts = new Map<string, Made>()));
  let made = texts.get(content);
  if (!made || made.photos !== photos) {
    const pieces = markup(content, photos);
    texts.set(content, (made = { photos, pieces, size: sizeOf(pieces) }));
  }
  operation.size += made.size;
  refuseTooMany(context, operation.size);
  return made.pieces;
}

function refuseTooMany({ plan, responseLimits }: Context, size: number): void {
  if (!responseLimits || !plan.defers) return; // the executor counts as it goes
  const room = roomFor(responseLimits);
  room.values -= size;
  if (isFull(room)) throw responseTooLarge(room, responseLimits);
}

const sizeOf = (pieces: readonly ContentBlockShape[]): number =>
  pieces.reduce((size, piece) => size + 1 + (piece.kind === 'TextBlock' ? piece.spans.length : 0), 0);
