/** One write of each kind that the interface has, on things of its own, and how often the service carried it out. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MutationName } from '../../generated/mutation-names.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint, WritesOf } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { termOf, readers, writers } from '../../src/atom/media.ts';
import { picture } from './service.ts';
import { pictures, uploadForm } from './upload.ts';

export interface PreparedWrite {
  /** The body of the request: JSON, or a form with files. */
  body: (selection?: string) => string | FormData;
  /** How many times it was carried out: 1 if all is well. */
  effects: () => Promise<number>;
  /** What shows it, of a thing that nobody has read before. Without it, the write is a step of test/journey/afterwriting.slow.test.ts. */
  shows?: string;
  /** Removes what would fill a list. */
  clean?: () => Promise<unknown>;
}

export interface WriteKind {
  name: MutationName;
  endpoint: Endpoint;
  prepare: (service: DirectService, mark: string) => Promise<PreparedWrite>;
}

/** Calls of the service itself, as one person. */
export type DirectService = ReturnType<typeof directService>;

export function directService(url: string, token: string, person: string) {
  async function call(method: string, path: string, body?: Record<string, string> | string) {
    const isAtom = typeof body === 'string';
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isAtom && { 'content-type': 'application/atom+xml' }),
      },
      ...(body !== undefined && { body: isAtom ? body : new URLSearchParams(body) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  }
  /** A read that the service has no time for is repeated. */
  async function answerTo(method: string, path: string, body?: Record<string, string>): Promise<string> {
    for (let left = 10; ; left--) {
      const { status, text } = await call(method, path, body);
      const isPassing = status === 429 || (status >= 500 && method === 'GET');
      if (!isPassing || left === 0) return text;
      await sleep(50);
    }
  }
  return {
    person,
    call,
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the tests know the shape
    json: async (method: string, path: string, body?: Record<string, string>): Promise<any> =>
      JSON.parse(await answerTo(method, path, body)),
    event: async (path: string) => readers.event((await call('GET', path)).text),
    events: async (path: string) => readers.eventFeed((await call('GET', path)).text).entries,
  };
}

/** The books of the demo, in turn. */
let books: string[] = [];
let nextBook = 0;
async function bookOf(service: DirectService): Promise<string> {
  if (books.length === 0) {
    const { books: found } = await service.json('GET', '/v2/book/search?q=%E7%9A%84&count=100&fields=id');
    books = found.map(({ id }: { id: string }) => id);
  }
  const id = books[nextBook++ % books.length]!;
  await service.call('DELETE', `/v2/book/${id}/collection`);
  return id;
}

const operation = (name: string, selection: string) =>
  `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`;
const json =
  (name: string, input: object) =>
  (selection = '__typename') =>
    JSON.stringify({ query: operation(name, selection), variables: { input } });
const form =
  (name: string, input: object, numbers: readonly number[]) =>
  (selection = '__typename') => {
    const { pictures: given, files } = pictures(numbers, (number) => picture('png', 300 + number));
    return uploadForm(operation(name, selection), { input: { ...input, pictures: given } }, files);
  };

const commentsOf = (note: string, comment = ''): string =>
  `{ note(id: "${note}") { commentsCount comments(first: 5) { totalCount nodes { content } } ${comment && `noteComment(id: "${comment}") { content }`} } }`;

const count = (holds: boolean): number => (holds ? 1 : 0);
const countIn = (items: readonly object[], mark: string): number =>
  items.filter((item) => JSON.stringify(item).includes(mark)).length;

const noteOf = async (service: DirectService): Promise<string> =>
  (await service.json('POST', '/v2/notes', { title: 't', content: 'c' })).id;
const annotationOf = async (service: DirectService): Promise<string> => {
  const content = 'an annotation that is long enough';
  return (await service.json('POST', `/v2/book/${await bookOf(service)}/annotations`, { content })).id;
};
const reviewOf = async (service: DirectService): Promise<number> => {
  const body = { book: await bookOf(service), title: 't', content: 'r'.repeat(151) };
  return (await service.json('POST', '/v2/book/reviews', body)).id;
};
const eventDraft = {
  title: 'an event',
  type: 'SALON',
  content: 'its text',
  startsAt: '2031-12-18T19:30:00+08:00',
  endsAt: '2031-12-18T21:30:00+08:00',
  place: 'somewhere',
  inviteOnly: false,
  canInvite: true,
};
async function eventOf(service: DirectService): Promise<string> {
  const { title, content, startsAt: startTime, endsAt: endTime, place: where } = eventDraft;
  const draft = writers.eventDraft({ title, content, startTime, endTime, where, term: termOf('salon') });
  return readers.event((await service.call('POST', '/events', draft)).text).id;
}
const deleteEvent = (service: DirectService, id: string) =>
  service.call('POST', `/event/${id}/delete`, writers.reason({ reason: 'over' }));
const isGone = async (service: DirectService, path: string): Promise<number> =>
  count((await service.call('GET', path)).status >= 400);

const kind = (name: MutationName, endpoint: object, prepare: WriteKind['prepare']): WriteKind => ({
  name,
  endpoint: endpoint as Endpoint,
  prepare,
});

const attendanceKind = (name: MutationName, endpoint: object, before: string | undefined, status: string | undefined) =>
  kind(name, endpoint, async (service) => {
    const id = await eventOf(service);
    await service.call('DELETE', `/event/${id}/participants`);
    if (before) await service.call('POST', `/event/${id}/${before}`);
    const effects = async () => {
      const { status: now } = await service.event(`/event/${id}`);
      return count(now === status);
    };
    return { body: json(name, { id }), effects, clean: () => deleteEvent(service, id) };
  });

type Kinds<Table> = { readonly [Name in WritesOf<Table>]: WriteKind };

const bookKinds = {
  collect: kind('collectBook', bookEndpoints.collect, async (service, mark) => {
    const bookId = await bookOf(service);
    const effects = async () => {
      const record = await service.json('GET', `/v2/book/${bookId}/collection`);
      return count(record.comment === mark && record.status === 'reading');
    };
    return { body: json('collectBook', { bookId, status: 'READING', comment: mark, isPrivate: true }), effects };
  }),
  updateCollection: kind('replaceCollection', bookEndpoints.updateCollection, async (service, mark) => {
    const bookId = await bookOf(service);
    await service.call('POST', `/v2/book/${bookId}/collection`, { status: 'wish' });
    const effects = async () => count((await service.json('GET', `/v2/book/${bookId}/collection`)).comment === mark);
    return { body: json('replaceCollection', { bookId, status: 'READ', comment: mark, isPrivate: false }), effects };
  }),
  deleteCollection: kind('deleteCollection', bookEndpoints.deleteCollection, async (service) => {
    const bookId = await bookOf(service);
    await service.call('POST', `/v2/book/${bookId}/collection`, { status: 'wish' });
    return {
      body: json('deleteCollection', { bookId }),
      effects: () => isGone(service, `/v2/book/${bookId}/collection`),
    };
  }),
  annotate: kind('createAnnotation', bookEndpoints.annotate, async (service, mark) => {
    const bookId = await bookOf(service);
    const content = `an annotation with the mark ${mark} <图片1>`;
    const effects = async () =>
      countIn((await service.json('GET', `/v2/book/user/${service.person}/annotations?count=100`)).annotations, mark);
    return { body: form('createAnnotation', { bookId, content, isPrivate: true }, [1, 2]), effects };
  }),
  updateAnnotation: kind('replaceAnnotation', bookEndpoints.updateAnnotation, async (service, mark) => {
    const id = await annotationOf(service);
    const content = `an annotation with the mark ${mark}`;
    const effects = async () => countIn([await service.json('GET', `/v2/book/annotation/${id}`)], mark);
    return { body: json('replaceAnnotation', { id, content, page: 7, isPrivate: true }), effects };
  }),
  deleteAnnotation: kind('deleteAnnotation', bookEndpoints.deleteAnnotation, async (service) => {
    const id = await annotationOf(service);
    return { body: json('deleteAnnotation', { id }), effects: () => isGone(service, `/v2/book/annotation/${id}`) };
  }),
  createReview: kind('createReview', bookEndpoints.createReview, async (service, mark) => {
    const bookId = await bookOf(service);
    const content = mark + 'r'.repeat(151);
    // No endpoint reads reviews: the proxy counts.
    return { body: json('createReview', { bookId, title: mark, content }), effects: async () => NaN };
  }),
  updateReview: kind('replaceReview', bookEndpoints.updateReview, async (service, mark) => {
    const id = await reviewOf(service);
    const content = mark + 'r'.repeat(151);
    return { body: json('replaceReview', { id: String(id), title: mark, content }), effects: async () => NaN };
  }),
  deleteReview: kind('deleteReview', bookEndpoints.deleteReview, async (service) => {
    const id = await reviewOf(service);
    const effects = async () => count((await service.call('DELETE', `/v2/book/review/${id}`)).status === 404);
    return { body: json('deleteReview', { id: String(id) }), effects };
  }),
} satisfies Kinds<typeof bookEndpoints>;

const noteKinds = {
  create: kind('createNote', noteEndpoints.create, async (service, mark) => {
    const content = `see https://example.com/${mark} . <图片p_1>`;
    const effects = async () =>
      countIn((await service.json('GET', `/v2/note/user_created/${service.person}?count=100`)).notes, mark);
    return { body: form('createNote', { title: 'a note', content }, [1]), effects };
  }),
  update: kind('replaceNote', noteEndpoints.update, async (service, mark) => {
    const id = await noteOf(service);
    const effects = async () => countIn([await service.json('GET', `/v2/note/${id}`)], mark);
    const input = {
      id,
      title: mark,
      content: `<a href="https://example.com/">${mark}</a>`,
      privacy: 'PRIVATE',
      canReply: false,
    };
    return { body: json('replaceNote', input), effects };
  }),
  delete: kind('deleteNote', noteEndpoints.delete, async (service) => {
    const id = await noteOf(service);
    return { body: json('deleteNote', { id }), effects: () => isGone(service, `/v2/note/${id}`) };
  }),
  addPictures: kind('addNotePictures', noteEndpoints.addPictures, async (service) => {
    const id = await noteOf(service);
    const effects = async () => {
      const { content } = await service.json('GET', `/v2/note/${id}`);
      return content.split('[img=1:').length - 1;
    };
    return { body: form('addNotePictures', { id }, [1, 2]), effects };
  }),
  createComment: kind('createNoteComment', noteEndpoints.createComment, async (service, mark) => {
    const noteId = await noteOf(service);
    const effects = async () => countIn((await service.json('GET', `/v2/note/${noteId}/comments`)).comments, mark);
    return { body: json('createNoteComment', { noteId, content: mark }), effects, shows: commentsOf(noteId) };
  }),
  deleteComment: kind('deleteNoteComment', noteEndpoints.deleteComment, async (service) => {
    const noteId = await noteOf(service);
    const { id: commentId } = await service.json('POST', `/v2/note/${noteId}/comments`, { content: 'c' });
    const effects = () => isGone(service, `/v2/note/${noteId}/comment/${commentId}`);
    return { body: json('deleteNoteComment', { noteId, commentId }), effects, shows: commentsOf(noteId, commentId) };
  }),
  like: kind('likeNote', noteEndpoints.like, async (service) => {
    const id = await noteOf(service);
    return {
      body: json('likeNote', { id }),
      effects: async () => (await service.json('GET', `/v2/note/${id}`)).liked_count,
    };
  }),
  unlike: kind('unlikeNote', noteEndpoints.unlike, async (service) => {
    const id = await noteOf(service);
    await service.call('POST', `/v2/note/${id}/like`);
    const effects = async () => 1 - (await service.json('GET', `/v2/note/${id}`)).liked_count;
    return { body: json('unlikeNote', { id }), effects };
  }),
} satisfies Kinds<typeof noteEndpoints>;

const eventKinds = {
  create: kind('createEvent', eventEndpoints.create, async (service, mark) => {
    const own = () => service.events(`/people/${service.person}/events/initiate?max-results=50`);
    const effects = async () => countIn(await own(), mark);
    const clean = async () => {
      for (const { id, title } of await own()) if (title === mark) await deleteEvent(service, id);
    };
    return { body: json('createEvent', { ...eventDraft, title: mark }), effects, clean };
  }),
  update: kind('replaceEvent', eventEndpoints.update, async (service, mark) => {
    const id = await eventOf(service);
    const effects = async () => count((await service.event(`/event/${id}`)).title === mark);
    const clean = () => deleteEvent(service, id);
    return { body: json('replaceEvent', { ...eventDraft, id, title: mark }), effects, clean };
  }),
  delete: kind('deleteEvent', eventEndpoints.delete, async (service) => {
    const id = await eventOf(service);
    return { body: json('deleteEvent', { id, reason: 'rain' }), effects: () => isGone(service, `/event/${id}`) };
  }),
  join: attendanceKind('joinEvent', eventEndpoints.join, undefined, 'participant'),
  leave: attendanceKind('leaveEvent', eventEndpoints.leave, 'participants', 'initiate'),
  wish: attendanceKind('addEventInterest', eventEndpoints.wish, undefined, 'wish'),
  unwish: attendanceKind('removeEventInterest', eventEndpoints.unwish, 'wishers', 'initiate'),
} satisfies Kinds<typeof eventEndpoints>;

export const writeKinds: readonly WriteKind[] = [bookKinds, noteKinds, eventKinds].flatMap((kinds) =>
  Object.values(kinds),
);

/** Updates, which read what they keep before they write: each is carried out if the mark is there beside all else. */
export const updateKinds: readonly WriteKind[] = [
  kind('updateCollection', bookEndpoints.updateCollection, async (service, mark) => {
    const bookId = await bookOf(service);
    const path = `/v2/book/${bookId}/collection`;
    await service.call('POST', path, { status: 'reading', tags: 'a b', rating: '4', privacy: 'private' });
    const effects = async () => {
      const { comment, status, tags, rating } = await service.json('GET', path);
      return count(comment === mark && status === 'reading' && tags.length === 2 && rating.value === '4');
    };
    return { body: json('updateCollection', { bookId, comment: mark }), effects };
  }),
  kind('updateAnnotation', bookEndpoints.updateAnnotation, async (service, mark) => {
    const id = await annotationOf(service);
    const effects = async () => {
      const { chapter, content } = await service.json('GET', `/v2/book/annotation/${id}`);
      return count(chapter === mark && content === 'an annotation that is long enough');
    };
    return { body: json('updateAnnotation', { id, chapter: mark }), effects };
  }),
  kind('updateNote', noteEndpoints.update, async (service, mark) => {
    const id = await noteOf(service);
    const effects = async () => {
      const { title, content } = await service.json('GET', `/v2/note/${id}`);
      return count(title === mark && content === 'c');
    };
    return { body: json('updateNote', { id, title: mark }), effects };
  }),
  kind('updateEvent', eventEndpoints.update, async (service, mark) => {
    const id = await eventOf(service);
    const before = await service.event(`/event/${id}`);
    const effects = async () => {
      const { title, content, where } = await service.event(`/event/${id}`);
      return count(title === mark && content === before.content && where === before.where);
    };
    return { body: json('updateEvent', { id, title: mark }), effects, clean: () => deleteEvent(service, id) };
  }),
];
