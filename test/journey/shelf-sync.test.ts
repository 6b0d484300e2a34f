import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';

test('the updatedAt of an entry is the updatedFrom that returns this entry and those after it', async () => {
  const { execute, cost } = await journey();
  const shelf = async (args: string) => {
    const { data } = await execute(
      `{ user(id: "alice") { bookCollections(${args}) { totalCount nodes { id updatedAt } } } }`,
    );
    return data.user.bookCollections as { totalCount: number; nodes: { id: string; updatedAt: string }[] };
  };
  const all = await shelf('first: 100');
  const { updatedAt } = all.nodes[4]!;
  const newer = await shelf(`first: 100, updatedFrom: "${updatedAt}"`);
  expect(newer.nodes).toEqual(all.nodes.slice(0, 5));
  expect((await shelf(`first: 1, updatedTo: "${updatedAt}"`)).totalCount).toBe(all.totalCount - 4);
  const { calls } = await cost('{ user(id: "alice") { bookCollections(first: 100) { totalCount nodes { id } } } }');
  expect(calls).toBe(1);
});

test('changes of notes and annotations tell what was written, edited and removed since', async () => {
  const { origin, execute, cost } = await journey();
  const token = 'demo-alice';
  const { body: note } = await origin.post('/v2/notes', 'alice', new URLSearchParams({ title: 'one', content: 'c' }));
  const content = 'An annotation that is longer than fifteen characters.';
  const draft = { content, page: '7', privacy: 'public' };
  const { body: annotation } = await origin.post('/v2/book/1003078/annotations', 'alice', draft);
  const written = {
    noteChanges: {
      id: `Note:${note.id}`,
      edit: () => origin.put(`/v2/note/${note.id}`, 'alice', new URLSearchParams({ title: 'two', content: 'c' })),
      remove: () => origin.delete(`/v2/note/${note.id}`, 'alice'),
    },
    annotationChanges: {
      id: `Annotation:${annotation.id}`,
      edit: () =>
        origin.put(`/v2/book/annotation/${annotation.id}`, 'alice', { ...draft, content: `${content} Edited.` }),
      remove: () => origin.delete(`/v2/book/annotation/${annotation.id}`, 'alice'),
    },
  };
  for (const [field, { id, edit, remove }] of Object.entries(written)) {
    const query = `query ($since: String) { user(id: "alice") { changes: ${field}(since: $since) {
      nodes { id ${field === 'noteChanges' ? 'title' : 'content'} } removedIds since hasMore } } }`;
    let since: string | null = null;
    const told = async () => {
      const found = { nodes: [] as { id: string; title?: string; content?: string }[], removedIds: [] as string[] };
      for (let hasMore = true; hasMore;) {
        const { data, errors } = await execute(query, { token, variables: { since } });
        expect(errors).toBeUndefined();
        const { nodes, removedIds, ...next } = data.user.changes;
        found.nodes.push(...nodes);
        found.removedIds.push(...removedIds);
        ({ since, hasMore } = next);
      }
      return found;
    };
    const { nodes } = await told();
    expect(nodes.length).toBeGreaterThan(5);
    expect(new Set(nodes.map((each) => each.id)).size).toBe(nodes.length);
    await edit();
    const edited = (await told()).nodes.find((each) => each.id === id);
    expect(edited).toMatchObject(field === 'noteChanges' ? { title: 'two' } : { content: `${content} Edited.` });
    await remove();
    expect((await told()).removedIds).toEqual([id]);
    expect((await told()).removedIds).toEqual([]);
    const { calls } = await cost(query, { token, variables: { since } });
    expect(calls).toBe(1);
  }
});
