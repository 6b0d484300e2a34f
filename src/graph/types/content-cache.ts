/**
 * Parses each text of an operation into blocks once, however many aliases select them, because texts have any length. With incremental
 * delivery a response is measured only after it is built, so blocks are counted here.
 */
import { oncePer } from '../../lib/remember.ts';
import { responseTooLarge, isFull, roomFor } from '../engine/response-size.ts';
import type { ContentBlockShape } from './content-markup.ts';
import type { Context } from '../engine/builder.ts';

/** Parses a text with these pictures. */
export type BlockParser = (content: string, photos: unknown) => ContentBlockShape[];

interface ParsedText {
  parse: BlockParser;
  photos: unknown;
  blocks: ContentBlockShape[];
}

const operations = oncePer(({ responseLimits }: Context) => ({
  texts: new Map<string, ParsedText>(),
  room: roomFor(responseLimits),
}));

export function parseBlocksOnce(
  context: Context,
  parse: BlockParser,
  content: string,
  photos: unknown,
): ContentBlockShape[] {
  const { plan, responseLimits } = context;
  const { texts, room } = operations(context);
  let text = texts.get(content);
  if (text?.parse !== parse || text.photos !== photos)
    texts.set(content, (text = { parse, photos, blocks: parse(content, photos) }));
  if (responseLimits && plan.defers) {
    room.values -= sizeOf(text.blocks);
    if (isFull(room)) throw responseTooLarge(room);
  }
  return text.blocks;
}

/** The number of blocks and of the spans in them. */
const sizeOf = (blocks: readonly ContentBlockShape[]): number =>
  blocks.reduce((size, block) => size + 1 + (block.kind === 'TextBlock' ? block.spans.length : 0), 0);
