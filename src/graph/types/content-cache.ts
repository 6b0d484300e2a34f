/**
 * Parses each text of an operation into blocks once, however many aliases select them, because texts have any length. With incremental
 * delivery a response is measured only after it is built, so blocks are counted here.
 */
import { oncePer } from '../../lib/remember.ts';
import { responseTooLarge, isFull, roomFor } from '../engine/response-size.ts';
import type { ContentBlockShape } from './content-blocks.ts';
import type { Context } from '../engine/builder.ts';

interface ParsedText {
  photos: unknown;
  blocks: ContentBlockShape[];
  /** The number of blocks and of the spans in them. */
  size: number;
}

interface OfOperation {
  byParser: Map<BlockParser, Map<string, ParsedText>>;
  /** The size of all selected blocks. */
  size: number;
}

/** Parses a text with these pictures. */
export type BlockParser = (content: string, photos: unknown) => ContentBlockShape[];

const operations = oncePer((_: Context): OfOperation => ({ byParser: new Map(), size: 0 }));

export function parseBlocksOnce(
  context: Context,
  parse: BlockParser,
  content: string,
  photos: unknown,
): ContentBlockShape[] {
  const operation = operations(context);
  let texts = operation.byParser.get(parse);
  if (!texts) operation.byParser.set(parse, (texts = new Map<string, ParsedText>()));
  let made = texts.get(content);
  if (!made || made.photos !== photos) {
    const blocks = parse(content, photos);
    texts.set(content, (made = { photos, blocks, size: sizeOf(blocks) }));
  }
  operation.size += made.size;
  refuseTooMany(context, operation.size);
  return made.blocks;
}

function refuseTooMany({ plan, responseLimits }: Context, size: number): void {
  if (!responseLimits || !plan.defers) return; // the executor counts while it runs
  const room = roomFor(responseLimits);
  room.values -= size;
  if (isFull(room)) throw responseTooLarge(room, responseLimits);
}

const sizeOf = (blocks: readonly ContentBlockShape[]): number =>
  blocks.reduce((size, block) => size + 1 + (block.kind === 'TextBlock' ? block.spans.length : 0), 0);
