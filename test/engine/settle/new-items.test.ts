import { expect, test } from 'vitest';
import '../../../src/graph/schema.ts';
import { COUNT_MAX, bookEndpoints } from '../../../src/api/book.ts';
import { noteEndpoints } from '../../../src/api/note.ts';
import { writeRuleOf } from '../../../src/engine/settle/write-rules.ts';

const input = { id: '1', content: 'an annotation of the book', privacy: 'private' };
const annotation = (id: number, content = `annotation ${id}`) => ({ id: String(id), book_id: '1', content });
/** More than the page of the list shows, newest first. */
const old = Array.from({ length: COUNT_MAX + 20 }, (_, at) => annotation(1_000 - at));

/** What the rule finds in this list after it was the old one. */
async function findIn(list: readonly object[], listBefore: readonly object[] = old) {
  const rule = writeRuleOf(bookEndpoints.annotate);
  const readFrom = (annotations: readonly object[]) => async () => ({
    annotations: annotations.slice(0, COUNT_MAX),
    total: annotations.length,
  });
  const before = await rule.before!(input, { read: readFrom(listBefore) as never, person: 'alice' });
  return rule.find!(input, { read: readFrom(list) as never, person: 'alice', before, fileNames: undefined });
}

test('in a list with more pages, a new annotation is found below an old one that was changed since', async () => {
  const created = annotation(1_001, input.content);
  const [first, changed, ...rest] = old;
  expect(await findIn([changed!, created, first!, ...rest])).toEqual({ kind: 'there', value: created, id: '1001' });
});

test('a new annotation is found whose numbers are written as texts, and its book as a number', async () => {
  const created = { ...annotation(1_001, input.content), book_id: 1, page_no: '0', privacy: '0' };
  expect(await findIn([created, ...old])).toEqual({ kind: 'there', value: created, id: '1001' });
});

test('in a list with more pages, no new annotation is found if old ones were changed or deleted', async () => {
  const [first, changed, , ...rest] = old;
  expect(await findIn([changed!, first!, ...rest])).toEqual({ kind: 'absent' });
});

test('in a list with more pages and the oldest notes in front, a note is not said to be absent', async () => {
  const rule = writeRuleOf(noteEndpoints.create);
  const draft = { title: 'a note', content: 'of the day' };
  const notes = Array.from({ length: COUNT_MAX + 20 }, (_, at) => ({
    ...{ id: String(at), title: `note ${at}`, content: '' },
    publish_time: new Date(Date.UTC(2026, 0, 1, at)).toISOString().slice(0, 19).replace('T', ' '),
  }));
  const readFrom = (list: readonly object[]) => ({
    read: (async () => ({ notes: list.slice(0, COUNT_MAX), total: list.length })) as never,
    person: 'alice',
  });
  const created = { id: '999', ...draft, publish_time: '2026-02-01 00:00:00' };
  for (const [list, kind] of [
    [notes, 'unknown'],
    [notes.toReversed(), 'absent'],
    [notes.toReversed().with(5, { ...notes[5]!, id: '1000', publish_time: '0000-00-00 00:00:00' }), 'absent'],
  ] as const) {
    const before = await rule.before!(draft, readFrom(list));
    const after = kind === 'unknown' ? [...list, created] : list;
    expect(await rule.find!(draft, { ...readFrom(after), before, fileNames: undefined })).toEqual({ kind });
  }
});

test('an item that cannot be read may be the new one', async () => {
  expect(await findIn([null as never, ...old])).toEqual({ kind: 'unknown' });
  expect(await findIn([...old], [null as never, ...old])).toEqual({ kind: 'unknown' });
  const [first, second] = [annotation(1_001), annotation(1_002)].map((each) => ({ ...each, id: {} }));
  expect(await findIn([second!, first!, ...old], [first!, ...old])).toEqual({ kind: 'unknown' });
});

test.each([
  ['the same book', { content: 'what else was read', book_id: '1' }],
  ['another book', { content: input.content, book_id: '2' }],
  ['another book with another content', { content: 'what else was read', book_id: '2' }],
])('a new annotation of %s may be this one in other words', async (_, record) => {
  expect(await findIn([{ ...annotation(1_001), ...record }, ...old])).toEqual({ kind: 'unknown' });
});

test('of two new annotations that are as the input asks for, none is taken for this one', async () => {
  const [one, two] = [annotation(1_001, input.content), annotation(1_002, input.content)];
  expect(await findIn([two, one, ...old])).toEqual({ kind: 'unknown' });
  expect(await findIn([annotation(1_002), one, ...old])).toMatchObject({ kind: 'there', id: '1001' });
});

test.each([
  [{ id: '7' }, 'absent'],
  [{ id: 7 }, 'absent'],
  [{ id: '9' }, 'unknown'],
  [{ id: 9 }, 'unknown'],
  [{ id: 'alice' }, 'unknown'],
  [undefined, 'unknown'],
])('a new comment by %j, that is not as the input asks for, leaves the comment of 9 %s', async (author, kind) => {
  const rule = writeRuleOf(noteEndpoints.createComment);
  const comment = { id: '1', content: 'a comment on the note' };
  const reading = (comments: readonly object[]) => ({
    read: (async () => ({ comments, total: comments.length })) as never,
    person: '9',
  });
  const before = await rule.before!(comment, reading([]));
  const after = reading([{ id: '5', content: 'something else', author }]);
  expect(await rule.find!(comment, { ...after, before, fileNames: undefined })).toEqual({ kind });
});

test('in a list that was short, a new annotation may be behind a full page of newer ones', async () => {
  const newer = Array.from({ length: COUNT_MAX }, (_, at) => ({ ...annotation(2_000 - at), book_id: '2' }));
  const short = [annotation(1)];
  const created = annotation(1_001, input.content);
  expect(await findIn([...newer, created, ...short], short)).toEqual({ kind: 'unknown' });
  expect(await findIn([created, ...short], short)).toMatchObject({ kind: 'there', id: '1001' });
  expect(await findIn([created], [])).toMatchObject({ kind: 'there', id: '1001' });
});

test('where the service sends its first page again, a new comment may be behind it', async () => {
  const rule = writeRuleOf(noteEndpoints.createComment);
  const comments = Array.from({ length: COUNT_MAX }, (_, at) => ({ id: String(at + 1), content: `comment ${at}` }));
  const lookFor = async (states: object) => {
    const reading = {
      read: (async (_: unknown, { start }: { start: number }) => ({
        comments: start === 0 ? comments : [],
        ...states,
      })) as never,
      person: 'alice',
    };
    const comment = { id: '1', content: 'a comment on the note' };
    const before = await rule.before!(comment, reading);
    return rule.find!(comment, { ...reading, before, fileNames: undefined });
  };
  expect(await lookFor({})).toEqual({ kind: 'absent' });
  expect(await lookFor({ start: 0 })).toEqual({ kind: 'unknown' });
});
