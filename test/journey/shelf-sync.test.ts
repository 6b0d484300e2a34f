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
