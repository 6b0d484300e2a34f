import { describe, expect, test, vi } from 'vitest';
import { noteBlocks } from '../../../src/graph/types/content-markup.ts';
import { facade } from '../../support/facade.ts';
import { startFacade } from '../../support/start-facade.ts';
import { json } from '../../support/hostile.ts';
import { record } from '../note/record.ts';

describe('content blocks', () => {
  test.each([
    ['in a note', (blocks: string) => `{ note(id: 9) { ${blocks} } }`],
    [
      'in aliases of the note',
      (blocks: string) => `{ ${blocks.replace(/(\w+): (.*?\})/g, '$1: note(id: 9) { $2 }')} }`,
    ],
  ])('are parsed once per operation, however often they are selected %s', async (_, documentOf) => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/note\/9/ }).reply(200, record);
    const aliases = Array.from({ length: 25 }, (_, at) => `a${at}: blocks { __typename }`).join(' ');
    const matchAll = vi.spyOn(String.prototype, 'matchAll');
    expect((await execute(documentOf(aliases), { token: 't' })).errors).toBeUndefined();
    expect(matchAll.mock.contexts.filter((text) => text === record.content)).toHaveLength(1);
    matchAll.mockRestore();
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
