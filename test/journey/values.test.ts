/** What fields of records and payloads return that no other test selects: test/graph/selected.slow.test.ts finds those that are left out. */
import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { pictures, uploadForm } from '../support/upload.ts';

const { execute, upload } = await journey();
const alice = { token: 'demo-alice' };
const bob = { token: 'demo-bob' };
const named = { name: expect.any(String) as string };
const cursor = expect.stringMatching(/^\w+$/) as string;
const since = expect.stringMatching(/^[\w-]{20,}$/) as string;
const page = (path: string) => `https://movie.catalog.example/${path}`;

test('a film has its links, the numbers of its texts, and a page of each list', async () => {
  const query = `{ subject(id: "1292052") {
    blooperUrls commentsCount reviewsCount scheduleUrl
    reviews(first: 1, offset: 1) {
      edges { cursor node {
        sourceId title createdAt updatedAt usefulCount uselessCount commentsCount webUrl author { name } authorUid
        authorSignature attribution { label } subject { id }
      } }
      pageInfo { hasPreviousPage }
    }
    comments(first: 1) { edges { node { sourceId usefulCount authorUid authorSignature } } }
    photos(first: 1, offset: 1) { edges { cursor node {
      webUrl description author { name } authorUid authorSignature album { webUrl } commentsCount photosCount
    } } }
  } }`;
  const review = {
    ...{ sourceId: '98', title: '为什么我喜欢它', createdAt: '2015-03-28T17:08:00', updatedAt: '2015-03-28T17:08:00' },
    ...{ usefulCount: 2639, uselessCount: 50, commentsCount: 118, webUrl: page('review/98/') },
    ...{ author: { name: '陆小满' }, authorUid: '1000010', authorSignature: '今天也要早睡' },
    ...{ attribution: { label: 'the catalog service' }, subject: { id: 'Subject:1292052' } },
  };
  const photo = {
    ...{ webUrl: page('photos/photo/104/'), description: '首映礼', commentsCount: 0, photosCount: 53 },
    ...{ author: { name: '宋晚舟' }, authorUid: 'anchor', authorSignature: '慢一点也没关系' },
    album: { webUrl: page('subject/1292052/photos') },
  };
  expect((await execute(query, alice)).data.subject).toEqual({
    blooperUrls: [1, 2, 3, 4].map((at) => `https://video.catalog.example/1292052/blooper-${at}.mp4`),
    ...{ commentsCount: 52, reviewsCount: 31, scheduleUrl: page('subject/1292052/cinema/') },
    reviews: { edges: [{ cursor, node: review }], pageInfo: { hasPreviousPage: true } },
    comments: {
      edges: [
        { node: { sourceId: '207', usefulCount: 1937, authorUid: 'alice', authorSignature: '在地铁上看完的都算数' } },
      ],
    },
    photos: { edges: [{ cursor, node: photo }] },
  });
});

test('lists have ranks and cursors, people their names and links, and the changes of a shelf its records', async () => {
  const { data } = await execute(
    `{
      top250(first: 1, offset: 2) { edges { cursor rank node { title } } }
      celebrity(id: "1054395") {
        alternativeNamesEn mobileUrl websiteUrl works(first: 1) { edges { cursor } pageInfo { hasNextPage } }
      }
      event(id: "10504885") { participants(first: 1) { edges { cursor uid } } }
      city(id: "beijing") { events(first: 1) { edges { cursor } } }
      user(id: "alice") {
        bookTags(first: 1) { edges { cursor } pageInfo { hasNextPage } }
        annotationChanges { nodes { id } since }
        noteChanges { nodes { id } since }
      }
      service { limits { event { listCountMax } } }
    }`,
    alice,
  );
  expect(data).toEqual({
    top250: { edges: [{ cursor, rank: 3, node: { title: '这个杀手不太冷' } }] },
    celebrity: {
      alternativeNamesEn: ['Elijah Jordan Wood (本名)', 'Elwood, Lij and Monkey (昵称)'],
      ...{ mobileUrl: page('celebrity/1054395/mobile'), websiteUrl: null },
      works: { edges: [{ cursor }], pageInfo: { hasNextPage: true } },
    },
    event: { participants: { edges: [{ cursor, uid: '1000028' }] } },
    city: { events: { edges: [{ cursor }] } },
    user: {
      bookTags: { edges: [{ cursor }], pageInfo: { hasNextPage: true } },
      annotationChanges: { nodes: expect.arrayContaining([{ id: 'Annotation:32072641' }]) as object[], since },
      noteChanges: { nodes: expect.arrayContaining([{ id: 'Note:244600053' }]) as object[], since },
    },
    service: { limits: { event: { listCountMax: 50 } } },
  });
});

/** What an own record says of its reader. */
const rights = 'revision viewerCanDelete viewerCanUpdate viewerDidAuthor';
const own = {
  revision: expect.stringMatching(/^[\w-]{16,}$/) as string,
  ...{ viewerCanDelete: true, viewerCanUpdate: true, viewerDidAuthor: true },
};
/** The payload of a write. */
async function write(mutation: string, person = alice) {
  const { data, errors } = await execute(`mutation { ${mutation} }`, person);
  expect(errors).toBeUndefined();
  return data;
}

test('a review has all that the response to its write has, and its deletion names the author', async () => {
  const draft = `title: "t", content: "${'评'.repeat(151)}"`;
  const { createReview } = await write(`createReview(input: { bookId: "1003078", ${draft} }) { review { sourceId } }`);
  const id = `id: "${createReview.review.sourceId}"`;
  const all = `title content summary rating { value max } usefulCount uselessCount commentsCount createdAt updatedAt webUrl
    author { name } authorUid book { title }`;
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/) as string;
  expect(await write(`replaceReview(input: { ${id}, rating: 4, ${draft} }) { review { ${all} } }`)).toEqual({
    replaceReview: {
      review: {
        ...{ title: 't', content: '评'.repeat(151), summary: null, rating: { value: 4, max: 5 } },
        ...{ usefulCount: 0, uselessCount: 0, commentsCount: 0, createdAt: time, updatedAt: time },
        ...{ webUrl: expect.stringContaining(String(createReview.review.sourceId)) as string },
        ...{ author: named, authorUid: 'alice', book: { title: '小王子' } },
      },
    },
  });
  expect(await write(`deleteReview(input: { ${id} }) { author { name } }`)).toEqual({
    deleteReview: { author: named },
  });
});

test('the payloads of notes have the note and its pictures, those of comments the note', async () => {
  const { createNote } = await write('createNote(input: { title: "a", content: "b" }) { note { sourceId } }');
  const id = createNote.note.sourceId as string;
  const stored = 'storedPictures failedPictures { number }';
  const none = { storedPictures: [], failedPictures: [] };
  const draft = `id: "${id}", title: "d", content: "e", privacy: PUBLIC, canReply: true`;
  expect(
    await write(`updateNote(input: { id: "${id}", title: "c" }) { note { title ${rights} } ${stored} }
      replaceNote(input: { ${draft} }) { note { title } ${stored} }`),
  ).toEqual({ updateNote: { note: { title: 'c', ...own }, ...none }, replaceNote: { note: { title: 'd' }, ...none } });
  const add = `mutation ($input: AddNotePicturesInput!) { addNotePictures(input: $input) { ${stored} } }`;
  const { pictures: given, files } = pictures([1]);
  expect((await upload(uploadForm(add, { input: { id, pictures: given } }, files))).data).toEqual({
    addNotePictures: { storedPictures: [1], failedPictures: [] },
  });

  const { createNoteComment } = await write(
    `createNoteComment(input: { noteId: "${id}", content: "f" }) { comment { sourceId } }`,
    bob,
  );
  const comment = 'authorUid viewerCanDelete viewerCanUpdate viewerDidAuthor';
  const list = `{ note(id: "${id}") { comments(first: 1) { edges { cursor node { ${comment} } } pageInfo { hasNextPage } } } }`;
  const node = { authorUid: 'bob', viewerCanDelete: true, viewerCanUpdate: false, viewerDidAuthor: true };
  expect((await execute(list, bob)).data.note.comments).toEqual({
    edges: [{ cursor, node }],
    pageInfo: { hasNextPage: false },
  });
  const removed = `noteId: "${id}", commentId: "${createNoteComment.comment.sourceId}"`;
  expect(await write(`deleteNoteComment(input: { ${removed} }) { note { title } }`, bob)).toEqual({
    deleteNoteComment: { note: { title: 'd' } },
  });
});

test('the payloads of a shelf have the annotation, the collection and the book', async () => {
  const content = '<原文开始>十六个字符以上的一段读书笔记，正好够长。</原文结束>一';
  const { createAnnotation } = await write(
    `createAnnotation(input: { bookId: "1003078", content: "${content}", chapter: "一" }) { annotation { sourceId } }`,
  );
  const id = `id: "${createAnnotation.annotation.sourceId}"`;
  const changed = `annotation { chapter isPrivate blocks { ... on TextBlock { isQuote } } ${rights} }`;
  expect(await write(`updateAnnotation(input: { ${id}, chapter: "二", isPrivate: true }) { ${changed} }`)).toEqual({
    updateAnnotation: {
      annotation: { chapter: '二', isPrivate: true, blocks: [{ isQuote: true }, { isQuote: false }], ...own },
    },
  });
  expect(await write(`deleteAnnotation(input: { ${id} }) { author { name } }`)).toEqual({
    deleteAnnotation: { author: named },
  });
  await write('collectBook(input: { bookId: "1003078", status: WISH }) { created }');
  const input = 'bookId: "1003078", status: READ, isPrivate: true';
  expect(
    await write(`replaceCollection(input: { ${input} }) { book { title } collection { status ${rights} } }`),
  ).toEqual({ replaceCollection: { book: { title: '小王子' }, collection: { status: 'READ', ...own } } });
});

test('the payloads of events have the event, and its deletion names the organizer', async () => {
  const times = 'startsAt: "2031-12-18T19:30:00+08:00", endsAt: "2031-12-18T21:30:00+08:00"';
  const draft = `type: SALON, content: "c", ${times}, place: "p"`;
  const { createEvent } = await write(`createEvent(input: { title: "t", ${draft} }) { event { id sourceId } }`);
  const { id: global, sourceId } = createEvent.event as { id: string; sourceId: string };
  const id = `id: "${sourceId}"`;
  const replacement = `${id}, title: "u", ${draft}, inviteOnly: false, canInvite: true`;
  expect(await write(`replaceEvent(input: { ${replacement} }) { event { title ${rights} } }`)).toEqual({
    replaceEvent: { event: { title: 'u', ...own } },
  });
  const both = `addEventInterest(input: { ${id} }) { event { id } } removeEventInterest(input: { ${id} }) { event { id } }`;
  const event = { id: global };
  expect(await write(both, bob)).toEqual({ addEventInterest: { event }, removeEventInterest: { event } });
  expect(await write(`deleteEvent(input: { ${id}, reason: "r" }) { organizer { name } }`)).toEqual({
    deleteEvent: { organizer: named },
  });
});
