/** Parses each text of an operation into blocks once, however many aliases select them, because texts have any length. */
import { oncePer } from '../../lib/remember.ts';
import type { ContentBlockShape } from './content-markup.ts';
import type { ResolverContext } from '../../engine/context.ts';

/** Parses a text with these pictures. */
export type BlockParser = (content: string, photos: unknown) => ContentBlockShape[];

interface ParsedText {
  parse: BlockParser;
  photos: unknown;
  blocks: ContentBlockShape[];
}

const textsOf = oncePer((_: ResolverContext) => new Map<string, ParsedText>());

export function parseBlocksOnce(
  context: ResolverContext,
  parse: BlockParser,
  content: string,
  photos: unknown,
): ContentBlockShape[] {
  const texts = textsOf(context);
  let text = texts.get(content);
  if (text?.parse !== parse || text.photos !== photos)
    texts.set(content, (text = { parse, photos, blocks: parse(content, photos) }));
  return text.blocks;
}
