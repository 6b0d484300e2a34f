import { textOrNull } from '../../engine/values/decode.ts';

interface Formatted<Format> {
  format?: Format | 'text' | null;
}
/** What a `content` declares that has several formats: the text is part of the record, and other formats are variants of it. */
export function contentByFormat<Format extends string>() {
  const variantOf = ({ format }: Formatted<Format>) => (format === 'text' ? undefined : (format ?? undefined));
  return {
    from: ['id'] as const,
    input: ({ id }: { id: string }, { format }: Formatted<Format>) => ({ id, format: format ?? ('text' as const) }),
    embedded: { member: 'content' as const, representation: { members: [] } },
    variant: { param: 'format', of: variantOf },
    // An embedded member is the text itself.
    resolve: (source: { content?: unknown } | string) =>
      textOrNull.decode(typeof source === 'object' && source !== null ? source.content : source),
  };
}
