import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { type Tab, readTabs } from '../../src/server/graphql/documents/tabs.ts';
import { endpointAt, endpoints, lineOf } from '../support/endpoints.ts';
import { lists } from '../support/example-records.ts';
import { journey } from '../support/journey.ts';
import { picture } from '../support/service.ts';
import { pictures, uploadForm } from '../support/upload.ts';

let setup: Awaited<ReturnType<typeof journey>>;
/** Every upstream call so far. */
const calledLines = new Set<string>();
beforeAll(async () => {
  setup = await journey();
});

const alice = 'demo-alice';

async function run(query: string, variables: object = {}, token: string | undefined = alice) {
  const { response, passed, calls } = await setup.cost(query, {
    ...(token && { token }),
    variables: variables as Record<string, unknown>,
  });
  for (const { line } of passed) calledLines.add(line);
  return { ...response, calls, lines: passed.map(({ line }) => line.replace(/\?.*/, '')) };
}

/** A mutation with an input, and a selection of its payload. */
const mutation = (name: string, selection: string) => {
  const input = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  return `mutation ($input: ${input}!) { ${name}(input: $input) { ${selection} } }`;
};
const write = (name: string, input: object, selection: string, token?: string) =>
  run(mutation(name, selection), { input }, token);

async function upload(name: string, input: object, files: Record<string, Blob>, selection: string) {
  setup.proxy.start();
  const answer = await setup.upload(uploadForm(mutation(name, selection), { input }, files));
  const passed = setup.proxy.stop();
  for (const { line } of passed) calledLines.add(line);
  return { ...answer, calls: passed.length, lines: passed.map(({ line }) => line) };
}

const codeOf = (answer: { errors?: { extensions: Record<string, unknown> }[] }) => answer.errors?.[0]?.extensions.code;

describe('books', () => {
  const bookId = '1003078';

  test('a book is collected, read, changed and removed, with one call each', async () => {
    const before = await run(`{ book(id: "${bookId}") { viewerCollection { status } } }`);
    expect(before.data.book.viewerCollection).toBeNull();

    const collected = await write(
      'collectBook',
      { bookId, status: 'READING', tags: ['小说', '想读'], comment: '👨‍👩‍👧好', rating: 4 },
      'created collection { id } book { title viewerCollection { status tagNames comment rating { value } } }',
    );
    expect(collected).toMatchObject({
      data: {
        collectBook: {
          created: true,
          collection: { id: expect.stringMatching(`^Collection:[^:]+:${bookId}$`) },
          book: {
            viewerCollection: { status: 'READING', tagNames: ['小说', '想读'], comment: '👨‍👩‍👧好', rating: { value: 4 } },
          },
        },
      },
      calls: 1,
    });
    const after = await run(`{ book(id: "${bookId}") { viewerCollection { status tagNames } } }`);
    expect(after).toMatchObject({
      data: { book: { viewerCollection: { status: 'READING', tagNames: ['小说', '想读'] } } },
    });
    expect(after.calls).toBe(1);

    expect(codeOf(await write('collectBook', { bookId, status: 'WISH' }, 'created'))).toBe('COLLECTION_EXISTS');
    const replaced = await write(
      'collectBook',
      { bookId, status: 'READ', isPrivate: true, onConflict: 'REPLACE' },
      'created book { viewerCollection { status tagNames comment rating { value } } }',
    );
    expect(replaced).toMatchObject({
      data: {
        collectBook: {
          created: false,
          book: { viewerCollection: { status: 'READ', tagNames: [], comment: null, rating: null } },
        },
      },
      calls: 2,
    });
    const updated = await write(
      'replaceCollection',
      { bookId, status: 'WISH', isPrivate: false },
      'collection { status } book { viewerCollection { status } }',
    );
    expect(updated).toMatchObject({
      data: { replaceCollection: { collection: { status: 'WISH' }, book: { viewerCollection: { status: 'WISH' } } } },
      calls: 1,
    });
    const removed = await write('deleteCollection', { bookId }, 'book { id viewerCollection { status tagNames } }');
    expect(removed).toMatchObject({
      data: { deleteCollection: { book: { id: `Book:${bookId}`, viewerCollection: null } } },
      calls: 1,
    });
    expect(codeOf(await write('deleteCollection', { bookId }, 'book { id }'))).toBe('COLLECTION_NOT_FOUND');
    const absent = await write('replaceCollection', { bookId, status: 'WISH', isPrivate: false }, 'collection { id }');
    expect(codeOf(absent)).toBe('COLLECTION_NOT_FOUND');
  });

  test('annotations are created with and without pictures; only their author changes them', async () => {
    const content = '十六个字符以上的一段读书笔记，正好够长。<图片1>';
    const { pictures: given, files } = pictures([1, 2], () => picture('jpg', 2_999_999));
    const created = await upload(
      'createAnnotation',
      { bookId, content, page: 999_999, pictures: given },
      files,
      'annotation { id page pictures { number url } abstractPhotoUrl lastPhotoNumber author { id } book { title viewerCollection { status } } }',
    );
    expect(created).toMatchObject({
      status: 200,
      data: {
        createAnnotation: {
          annotation: { page: 999_999, pictures: [{ number: 1 }, { number: 2 }], lastPhotoNumber: 2 },
        },
      },
    });
    const { id, pictures: stored } = created.data.createAnnotation.annotation;
    const file = await fetch(stored[0].url as string);
    expect((await file.arrayBuffer()).byteLength).toBe(2_999_999);

    const used = await upload(
      'replaceAnnotation',
      { id, content, isPrivate: false, pictures: [{ number: 2, file: null }] },
      { 'input.pictures.0.file': picture('gif') },
      'annotation { id }',
    );
    expect(codeOf(used)).toBe('PICTURE_NUMBER_USED');
    const updated = await write(
      'replaceAnnotation',
      { id, content, chapter: '第一章', isPrivate: true },
      'annotation { page chapter privacyLevel }',
    );
    expect(updated).toMatchObject({
      data: { replaceAnnotation: { annotation: { page: null, chapter: '第一章', privacyLevel: 0 } } },
      calls: 1,
    });
    const open = await write('replaceAnnotation', { id, content, isPrivate: false }, 'annotation { id }');
    expect(open.errors).toBeUndefined();
    expect(codeOf(await write('deleteAnnotation', { id }, 'deletedId', 'demo-bob'))).toBe('NOT_OWNER');
    const deleted = await write('deleteAnnotation', { id }, 'deletedId');
    expect(deleted.data).toEqual({ deleteAnnotation: { deletedId: id } });
    expect((await run(`{ node(id: "${id}") { ... on Annotation { content } } }`)).data?.node).toBeNull();
  });

  test('reviews are created, updated and deleted', async () => {
    const content = '评'.repeat(151);
    const created = await write(
      'createReview',
      { bookId, title: '标题', content, rating: 5 },
      'review { id content rating { value } book { title } author { id } }',
    );
    expect(created).toMatchObject({
      data: { createReview: { review: { content, rating: { value: 5 } } } },
      calls: 1,
    });
    const { id } = created.data.createReview.review;
    const updated = await write('replaceReview', { id, title: '另一个', content }, 'review { title rating { value } }');
    expect(updated).toMatchObject({ data: { replaceReview: { review: { title: '另一个', rating: null } } }, calls: 1 });
    expect((await write('deleteReview', { id }, 'deletedId')).data).toEqual({ deleteReview: { deletedId: id } });
    expect(codeOf(await write('deleteReview', { id }, 'deletedId'))).toBe('REVIEW_NOT_FOUND');
  });
});

describe('notes', () => {
  test('a note is created, read, updated, liked, commented on and deleted', async () => {
    const created = await write(
      'createNote',
      { title: '标题', content: '见 https://example.com/a 。' },
      'note { id title privacy canReply blocks { __typename } } storedPictures failedPictures { code }',
    );
    expect(created).toMatchObject({
      data: {
        createNote: {
          note: { title: '标题', privacy: 'PUBLIC', canReply: true },
          storedPictures: [],
          failedPictures: [],
        },
      },
      calls: 1,
    });
    const { id } = created.data.createNote.note;
    const updated = await write(
      'replaceNote',
      { id, title: '新', content: '内容', privacy: 'FRIEND', canReply: true },
      'note { title privacy likesCount }',
    );
    expect(updated).toMatchObject({ data: { replaceNote: { note: { title: '新', privacy: 'FRIEND' } } }, calls: 1 });

    const both = await run(
      `mutation ($id: ID!) {
        like: likeNote(input: { id: $id }) { note { likesCount } }
        unlike: unlikeNote(input: { id: $id }) { note { likesCount } }
        again: likeNote(input: { id: $id }) { note { id } }
      }`,
      { id },
      'demo-bob',
    );
    expect(both.data).toEqual({
      like: { note: { likesCount: 1 } },
      unlike: { note: { likesCount: 0 } },
      again: { note: { id } },
    });
    expect(both.calls).toBe(5); // a record of which only the id is selected is not read

    const commented = await write(
      'createNoteComment',
      { noteId: id, content: '好！' },
      'comment { id content } note { commentsCount }',
    );
    expect(commented).toMatchObject({
      data: { createNoteComment: { comment: { content: '好！' }, note: { commentsCount: 1 } } },
      calls: 2,
    });
    const { id: commentId } = commented.data.createNoteComment.comment;
    const read = await run(
      `{ note(id: "${id}") { noteComment(id: "${commentId}") { content } comments { totalCount } } }`,
    );
    expect(read.data.note).toEqual({ noteComment: { content: '好！' }, comments: { totalCount: 1 } });
    const uncommented = await write('deleteNoteComment', { noteId: id, commentId }, 'deletedId note { commentsCount }');
    expect(uncommented.data.deleteNoteComment).toEqual({ deletedId: commentId, note: { commentsCount: 0 } });
    expect((await write('deleteNote', { id }, 'deletedId')).data.deleteNote).toEqual({ deletedId: id });
    expect(codeOf(await write('likeNote', { id }, 'note { id }'))).toBe('NOTE_NOT_FOUND');
  });

  test('twelve pictures are sent in requests of three, each placed where the text shows it', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    const content = numbers.map((number) => `第${number}张<图片p_${number}>`).join('\n');
    const { pictures: given, files } = pictures(numbers);
    const created = await upload(
      'createNote',
      {
        title: '相册',
        content,
        pictures: given.map((each) => ({ ...each, layout: 'LEFT', caption: `图${each.number}` })),
      },
      files,
      'storedPictures failedPictures { number code } note { id pictures { number } blocks { ... on PhotoBlock { layout caption photo { number } } } }',
    );
    expect(created.errors).toBeUndefined();
    expect(created.calls).toBe(4);
    const { note, storedPictures, failedPictures } = created.data.createNote;
    expect([storedPictures, failedPictures]).toEqual([numbers, []]);
    expect(note.pictures).toHaveLength(12);
    const result = note.blocks.filter(({ photo }: { photo?: object }) => photo);
    expect(result.map(({ photo }: { photo: { number: number } }) => photo.number)).toEqual(numbers);
    expect(result[11]).toMatchObject({ layout: 'LEFT', caption: '图12' });
  });

  test('with an invalid picture nothing is sent, and every rule that is broken is reported', async () => {
    const { pictures: given, files } = pictures([1, 2, 3, 4, 5, 6, 7], (number) =>
      picture(number === 5 ? 'html' : 'png', 70_000),
    );
    const created = await upload(
      'createNote',
      { title: '', content: '没有图', pictures: given.map((each, at) => (at === 6 ? { ...each, number: 1 } : each)) },
      files,
      'note { id }',
    );
    expect([created.data, created.calls]).toEqual([{ createNote: null }, 0]);
    expect(created.errors![0]!.extensions.violations).toMatchObject([
      { path: ['input', 'title'] },
      { path: ['input', 'pictures', 4, 'file'], code: 'PICTURE_TYPE' },
      { path: ['input', 'pictures', 6, 'number'], code: 'PICTURE_NUMBER_USED' },
    ]);
  });

  test('pictures are added to an existing note', async () => {
    const { data } = await write('createNote', { title: '一', content: '二' }, 'note { id }');
    const { id } = data.createNote.note;
    const { pictures: given, files } = pictures([1, 2, 3, 4], () => picture('webp', 100));
    const added = await upload(
      'addNotePictures',
      { id, pictures: given },
      files,
      'storedPictures note { pictures { number } content }',
    );
    expect(added.errors).toBeUndefined();
    expect(added.data.addNotePictures.storedPictures).toEqual([1, 2, 3, 4]);
    expect(added.data.addNotePictures.note.content).toMatch(
      /二\n\[img=1:C\].*\n\[img=2:C\].*\n\[img=3:C\].*\n\[img=4:C\]/,
    );
  });
});

describe('events', () => {
  const draft = {
    title: `<&>"']]> 标题`,
    type: 'SALON',
    content: '一 & 二',
    startsAt: '2031-12-18T19:30:00+08:00',
    endsAt: '2031-12-18T21:30:00+08:00',
    place: '某处',
    inviteOnly: false,
    canInvite: true,
  };

  test('every mutation of an unknown event fails with EVENT_NOT_FOUND', async () => {
    const id = '1';
    for (const [name, input] of [
      ['joinEvent', {}],
      ['leaveEvent', {}],
      ['addEventInterest', {}],
      ['removeEventInterest', {}],
      ['replaceEvent', draft],
      ['deleteEvent', { reason: '下雨' }],
    ] as const) {
      const { errors } = await write(name, { id, ...input }, '__typename');
      expect([name, codeOf({ errors })]).toEqual([name, 'EVENT_NOT_FOUND']);
      expect(errors?.[0]?.message).toBe('There is no such event.');
    }
  });

  test('an event is created, joined, wished for, updated and deleted', async () => {
    const created = await write(
      'createEvent',
      draft,
      'event { id title type content place participantsCount viewerRelation startsAt city { name } }',
    );
    expect(created).toMatchObject({
      data: {
        createEvent: { event: { title: draft.title, type: 'SALON', content: '一 & 二', startsAt: draft.startsAt } },
      },
      calls: 1,
    });
    const { id, participantsCount } = created.data.createEvent.event;

    const bob = 'demo-bob';
    const joined = await write('joinEvent', { id }, 'event { participantsCount viewerRelation }', bob);
    expect(joined.data.joinEvent.event).toEqual({
      participantsCount: participantsCount + 1,
      viewerRelation: 'PARTICIPATING',
    });
    const wished = await write(
      'addEventInterest',
      { id },
      'event { participantsCount interestedPeopleCount viewerRelation }',
      bob,
    );
    expect(wished.data.addEventInterest.event).toEqual({
      participantsCount,
      interestedPeopleCount: 1,
      viewerRelation: 'INTERESTED',
    });
    const withdrawn = await write('removeEventInterest', { id }, 'event { interestedPeopleCount viewerRelation }', bob);
    expect(withdrawn.data.removeEventInterest.event).toEqual({ interestedPeopleCount: 0, viewerRelation: null });
    expect(await write('leaveEvent', { id }, 'event { id }', bob)).toMatchObject({
      data: { leaveEvent: { event: { id } } },
      calls: 1,
    });

    const updated = await write(
      'replaceEvent',
      { id, ...draft, type: null, typeTerm: 'http://www.douban.com/2007#event.music', title: '新' },
      'event { title type }',
    );
    expect(updated).toMatchObject({ data: { replaceEvent: { event: { title: '新', type: 'MUSIC' } } }, calls: 1 });
    expect(codeOf(await write('replaceEvent', { id, ...draft }, 'event { id }', bob))).toBe('NOT_OWNER');
    expect((await write('deleteEvent', { id, reason: '下雨' }, 'deletedId')).data.deleteEvent).toEqual({
      deletedId: id,
    });
    expect((await run(`{ event(id: "${id}") { title } }`)).data.event).toBeNull();
  });

  test('a user without a city creates no event, and a past event is not changed', async () => {
    expect(codeOf(await write('createEvent', draft, 'event { id }', 'demo-carol'))).toBe('NO_CITY');
    const past = { ...draft, startsAt: '2001-01-01T10:00:00+08:00', endsAt: '2001-01-01T12:00:00+08:00' };
    const { data } = await write('createEvent', past, 'event { id isPast }');
    const { id, isPast } = data.createEvent.event;
    expect(isPast).toBe(true);
    expect(codeOf(await write('replaceEvent', { id, ...past }, 'event { id }'))).toBe('EVENT_EXPIRED');
  });
});

test('a mutation without a token is rejected without a call', async () => {
  const { response, calls } = await setup.cost('mutation { likeNote(input: { id: "1" }) { note { id } } }');
  expect([codeOf(response), calls]).toEqual(['LOGIN_REQUIRED', 0]);
});

test('the graph reaches every endpoint that is read, except the deprecated one', async () => {
  // What is deleted or replaced is made and changed first.
  const isLate = ({ name }: Tab) => Number(/^(?:delete|replace)/.test(name));
  let review: string | undefined;
  for (const tab of readTabs('operations').sort((one, other) => isLate(one) - isLate(other))) {
    const { name, query } = tab;
    const variables = { ...tab.variables, ...(name === 'replace-review' && { id: review }) };
    const { response, passed } = await setup.cost(query, { token: alice, variables });
    if (name !== 'explain') expect({ name, errors: response.errors }).toEqual({ name, errors: undefined }); // it is meant to be planned only
    review ??= response.data?.createReview?.review.id;
    for (const { line } of passed) calledLines.add(line);
  }
  const rest = await run(`{
    bookByIsbn(isbn: "9787544253994") { title } searchBooks(query: "的", first: 2) { nodes { title } } book(id: "6082808") { tags(first: 20) { name } collection(userId: "bob") { status } viewerCollection { comment } annotations(first: 1) { nodes { html: content(format: HTML) } } }
    user(id: "alice") { bookTags { nodes { name } } annotations(first: 1) { nodes { chapter } } initiated: events(relation: INITIATED) { nodes { title } } wished: events(relation: INTERESTED) { nodes { title } } events(first: 1) { nodes { title } } }
    searchSubjects(query: "的", first: 1) { nodes { title } } subject(id: "26266893") { photos(first: 20) { nodes { imageUrl } } reviews(first: 20) { nodes { title } } comments(first: 1) { nodes { content } } }
    celebrity(id: "1000525") { works(first: 20) { nodes { roles } } photos(first: 20) { nodes { imageUrl } } }
    searchEvents(first: 1) { nodes { title participants(first: 1) { nodes { name } } interestedPeople(first: 1) { nodes { name } } } }
  }`);
  expect(rest.errors).toBeUndefined();
  const old = await setup.origin.get('/v2/book/user_tags/alice', 'alice');
  expect(old.status).toBe(200);

  const isMissed = (endpoint: Endpoint) =>
    endpoint.method === 'GET' && ![...calledLines].some((line) => endpointAt(line) === endpoint);
  for (const { endpoint, query, node } of lists)
    if (endpoint && isMissed(endpoint)) await run(query('first: 1', `{ nodes { ${node} } }`));
  // Those that write are called by test/server/features/idempotency/settling.test.ts.
  expect(endpoints.filter(isMissed).map(lineOf), 'call it in this test').toEqual(['GET /v2/book/user_tags/:id']);
});
