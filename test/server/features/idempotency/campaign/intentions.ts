/** What a person wants once. */
import { type DirectService, type WriteKind, writeKinds } from '../../../../support/keyed-writes.ts';
import type { Lane } from './lanes.ts';

export interface Intention {
  kind: string;
  body: () => string | FormData;
  /** How many times it was carried out; of several writes, of the one that was most often. NaN if only the proxy can say. */
  effects: () => Promise<number>;
  /** The payload is that of this write. */
  isOwn: (data: object) => boolean;
  /** What another program wrote was written over. */
  isOverwritten?: () => Promise<boolean>;
  clean?: (() => Promise<unknown>) | undefined;
}

/** What shows whose payload it is. */
const selections: Readonly<Record<string, string>> = {
  collectBook: 'created collection { comment }',
  replaceCollection: 'collection { comment }',
  createAnnotation: 'annotation { id content }',
  replaceAnnotation: 'annotation { content }',
  createNote: 'note { id content }',
  replaceNote: 'note { title }',
  createNoteComment: 'comment { id content }',
  createEvent: 'event { id title }',
  replaceEvent: 'event { id title }',
};

export const kindNamed = (name: string): WriteKind => writeKinds.find((kind) => kind.name === name)!;

/** One write of a kind. */
export async function single(kind: WriteKind, direct: DirectService, mark: string): Promise<Intention> {
  const { body, effects, clean } = await kind.prepare(direct, mark);
  const selection = selections[kind.name];
  return {
    kind: kind.name,
    body: () => body(selection),
    effects,
    isOwn: (data) => selection === undefined || JSON.stringify(data).includes(mark),
    clean,
  };
}

export const noteOf = async ({ direct }: Lane): Promise<string> =>
  (await direct.json('POST', '/v2/notes', { title: 't', content: 'c' })).id;

/** A comment on a note, `times` times with the same words. */
export function commentOn(noteId: string, mark: string, direct: DirectService): Intention {
  const query = `mutation { createNoteComment(input: { noteId: "${noteId}", content: "${mark}" }) { comment { id content } } }`;
  return {
    kind: 'createNoteComment',
    body: () => JSON.stringify({ query }),
    effects: () => commentsWith(direct, noteId, mark),
    isOwn: (data) => JSON.stringify(data).includes(mark),
  };
}

const COMMENTS_PAGE = 100;
export async function commentsWith(direct: DirectService, noteId: string, mark: string): Promise<number> {
  let found = 0;
  for (let start = 0, total = 1; start < total; start += COMMENTS_PAGE) {
    const page = await direct.json('GET', `/v2/note/${noteId}/comments?start=${start}&count=${COMMENTS_PAGE}`);
    if (!page.comments) throw new Error(`no comments of note ${noteId}: ${JSON.stringify(page)}`);
    found += page.comments.filter(({ content }: { content: string }) => content.includes(mark)).length;
    total = page.total;
  }
  return found;
}

/** An operation of several writes, of which the first may have a second call. */
export async function several(lane: Lane, mark: string): Promise<Intention & { bookId: string }> {
  const { direct } = lane;
  const collected = await kindNamed('collectBook').prepare(direct, mark);
  const { bookId } = (JSON.parse(collected.body() as string) as { variables: { input: { bookId: string } } }).variables
    .input;
  const noteId = await noteOf(lane);
  const query = `mutation ($mark: String!, $bookId: ID!, $noteId: ID!) {
    a: collectBook(input: { bookId: $bookId, status: READING, comment: $mark, isPrivate: true, onConflict: UPDATE }) { collection { comment } }
    b: createNoteComment(input: { noteId: $noteId, content: $mark }) { comment { content } }
    c: likeNote(input: { id: $noteId }) { note { id } }
  }`;
  return {
    kind: 'collectBook, createNoteComment, likeNote',
    bookId,
    body: () => JSON.stringify({ query, variables: { mark, bookId, noteId } }),
    async effects() {
      const comments = await commentsWith(direct, noteId, mark);
      return comments > 1 ? comments : Math.min(comments, await collected.effects());
    },
    isOwn: (data) => JSON.stringify(data).split(mark).length === 3,
  };
}

/** Records that another device changes, and what it changes. */
export const changeable: Readonly<
  Record<string, (direct: DirectService, path: string, text: string) => Promise<unknown>>
> = {
  replaceNote: (direct, path, text) => direct.call('PUT', path, { title: text, content: text }),
  replaceAnnotation: (direct, path, text) => direct.call('PUT', path, { content: `an annotation that says ${text}` }),
  replaceCollection: (direct, path, text) => direct.call('PUT', path, { status: 'wish', comment: text }),
};
