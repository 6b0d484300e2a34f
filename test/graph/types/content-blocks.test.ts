import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/engine/context.ts';
import { type ContentBlockShape, annotationBlocks, noteBlocks } from '../../../src/graph/types/content-markup.ts';
import { parseBlocksOnce } from '../../../src/graph/types/content-cache.ts';
import { startFacade } from '../../support/start-facade.ts';
import { json } from '../../support/hostile.ts';

const operation = (): Context => ({}) as unknown as Context;
const photos = { 1: 'http://pictures.example/1.jpg' };

describe('content blocks', () => {
  test('are parsed once per operation, however often they are selected', () => {
    let made = 0;
    const counted = (content: string, pictures: unknown): ContentBlockShape[] => {
      made++;
      return noteBlocks(content, pictures);
    };
    const [one, other] = [operation(), operation()];
    for (let alias = 0; alias < 60; alias++)
      expect(parseBlocksOnce(one, counted, 'a text', photos)).toEqual(noteBlocks('a text', photos));
    expect(made).toBe(1);
    parseBlocksOnce(other, counted, 'a text', photos);
    expect(made).toBe(2);
  });

  test('are cached separately for other photos and other markup', () => {
    const context = operation();
    const text = '[img=1:C][/img]';
    parseBlocksOnce(context, noteBlocks, text, photos);
    expect(parseBlocksOnce(context, noteBlocks, text, {})).toEqual(noteBlocks(text, {}));
    const ofAnnotation = (content: string, pictures: unknown) => annotationBlocks(content, pictures, false);
    expect(parseBlocksOnce(context, ofAnnotation, text, {})).toEqual(annotationBlocks(text, {}, false));
  });

  test('are limited to a maximum number of marks; the text after the last one is returned unparsed', () => {
    const link = '[url="http://a.example"]x[/url]';
    const pieces = noteBlocks(link.repeat(50_000), {});
    const spans = pieces.flatMap((piece) => (piece.kind === 'TextBlock' ? piece.spans : []));
    expect(spans).toHaveLength(10_001);
    expect(spans.at(-1)).toEqual({ text: link.repeat(40_000), linkUrl: null });
  });

  test('count towards the limit of values when they are delivered incrementally', async () => {
    const { books, url } = await startFacade({ maxValues: '1000' });
    const content = 'line\n'.repeat(400);
    books.behave(json(JSON.stringify({ id: '7', content, photos: {}, book: { id: '1' } })));
    const blocks = ['a', 'b', 'c'].map((name) => `${name}: blocks { __typename }`).join(' ');
    const query = `{ node(id: "Annotation:7") { ... on Annotation { id ... @defer { ${blocks} } } } }`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed' },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    expect(text.match(/"code":"\w+"/g)).toEqual(['"code":"TOO_MANY_VALUES"']);
    expect(text).not.toContain('TextBlock');
  });
});
