import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';

test('a write of a collection, an annotation, a review or a comment shows the caller, one of a note, a like or an event does not', async () => {
  const { execute } = await journey();
  const userOf = async (token: string) => (await execute('{ viewer { user { id } } }', { token })).data.viewer.user;
  const write = async (token: string, field: string) => {
    const { data, errors } = await execute(`mutation { ${field} }`, { token });
    expect(errors).toBeUndefined();
    return data;
  };
  const title = 'title: "t"';
  const made = `createNote(input: { ${title}, content: "c", privacy: PUBLIC }) { note { id } }`;
  const { id } = (await write('demo-alice', made)).createNote.note;
  const { user } = (await execute('{ user(id: "alice") { events(first: 1) { nodes { id } } } }')).data;
  const event = user.events.nodes[0].id;
  for (const silent of [
    `likeNote(input: { id: "${id}" }) { note { id } }`,
    `updateNote(input: { id: "${id}", title: "u" }) { note { id } }`,
    `leaveEvent(input: { id: "${event}" }) { __typename }`,
  ]) {
    await write('demo-alice', silent);
    expect([silent, await userOf('demo-alice')]).toEqual([silent, null]);
  }
  await write('demo-alice', `createNoteComment(input: { noteId: "${id}", content: "c" }) { comment { id } }`);
  await write(
    'demo-bob',
    `createAnnotation(input: { bookId: "6082808", content: "${'c'.repeat(20)}", page: 1 }) { annotation { id } }`,
  );
  await write(
    'demo-carol',
    `createReview(input: { bookId: "1003078", ${title}, content: "${'c'.repeat(200)}" }) { review { id } }`,
  );
  for (const token of ['demo-alice', 'demo-bob', 'demo-carol'])
    expect(await userOf(token)).toEqual({ id: expect.stringMatching(/^User:\d+$/) });
});
