import {
  NOTE_PICTURES_MAX,
  type NoteDraft,
  type NoteFormat,
  type NotePictures,
  type NoteRecord,
  type PictureLayout,
  type noteEndpoints,
  noteFormats,
  notePrivacies,
  pictureLayouts,
} from '../../api/note.ts';
import type { NoteContent, StoredNote } from '../store/note.ts';
import type { ReceivedPicture } from '../store/pictures.ts';
import { type Call, type Of, type Rules, personOf, sliceOf } from './call.ts';
import { noteContent, noteMarkup, noteSummary, pictureTag } from './note-text.ts';
import { numericId } from './numeric-id.ts';
import { personNamed } from './person.ts';
import { checkPictures } from './picture.ts';
import { Rejection, found } from './rejection.ts';

interface NewPicture {
  number: number;
  received: ReceivedPicture;
  layout: PictureLayout;
  caption: string;
}

export const noteRules = {
  byId: (call, { id, format }) => toRecord(call, visibleNote(call, id), format),

  /** The notes of a person that the reader may see. */
  userCreated(call, { id, format, ...window }) {
    const person = personNamed(call, id);
    const privacies = notePrivacies.filter((privacy) => maySee(call, { person_id: person.id, privacy }));
    const { items, ...page } = call.notes.ofPerson(person.id, privacies, sliceOf(window));
    return { ...page, notes: items.map((note) => toRecord(call, note, format)) };
  },

  create(call, draft) {
    const content = checked(draft);
    const pictures = newPictures(call, draft);
    const id = call.notes.add(personOf(call), content);
    keep(call, id, pictures);
    return rewritten(call, id, content);
  },

  /** Sets what the draft leaves out to its default. Pictures remain, even if the content does not show them. */
  update(call, { id, ...draft }) {
    const note = ownNote(call, id);
    const content = checked(draft);
    keep(call, note.id, newPictures(call, draft));
    return rewritten(call, note.id, content);
  },

  addPictures(call, { id, ...draft }: Of & NotePictures & Partial<NoteDraft>) {
    const note = ownNote(call, id);
    const pictures = newPictures(call, draft);
    // An upload has no title: the client meant the PUT of the whole note.
    if (pictures.length === 0) throw new Rejection(draft.title && draft.content ? 1014 : 1002);
    keep(call, note.id, pictures);
    const tags = pictures.map(({ number, layout, caption }) => pictureTag(number, layout, caption));
    return rewritten(call, note.id, { content: draft.content ?? [note.content, ...tags].join('\n') });
  },

  delete(call, { id }) {
    const note = ownNote(call, id);
    call.notes.remove(note.id);
    call.unused.push(...[...note.photos.values()].map(({ picture }) => picture));
    return {};
  },

  /** A second like changes nothing. */
  like(call, { id }) {
    call.notes.like(visibleNote(call, id).id, personOf(call));
    return {};
  },

  unlike(call, { id }) {
    call.notes.unlike(visibleNote(call, id).id, personOf(call));
    return {};
  },
} satisfies Partial<Rules<typeof noteEndpoints>>;

export function visibleNote(call: Call, id: string): StoredNote {
  const note = found(call.notes.find(numericId(id)), 1006);
  if (!maySee(call, note)) throw new Rejection(1000);
  return note;
}

/** Not specified: the code for changing the note of another person; 1000, because the interface specifies 6002 only for books. */
function ownNote(call: Call, id: string): StoredNote {
  const note = visibleNote(call, id);
  if (note.person_id !== call.reader) throw new Rejection(1000);
  return note;
}

function maySee(call: Call, { person_id, privacy }: Pick<StoredNote, 'person_id' | 'privacy'>): boolean {
  if (person_id === call.reader || privacy === 'public') return true;
  return privacy === 'friend' && call.people.areFriends(person_id, personOf(call));
}

function checked({ title, content, privacy = 'public', can_reply = true }: NoteDraft): NoteContent {
  if (!title?.trim() || !content?.trim()) throw new Rejection(1002);
  const valid = notePrivacies.find((one) => one === privacy);
  if (!valid) throw new Rejection(999);
  return { title, content, privacy: valid, can_reply: can_reply ? 1 : 0 };
}

/** The pictures in `pids`, each with its file, layout and caption. */
function newPictures({ received }: Call, draft: Partial<NotePictures>): NewPicture[] {
  const fields: Record<string, unknown> = { ...draft };
  const numbers = (draft.pids ?? '').split(',').flatMap((pid) => (pid.trim() === '' ? [] : pictureNumber(pid.trim())));
  if (numbers.length > NOTE_PICTURES_MAX || new Set(numbers).size < numbers.length) throw new Rejection(999);
  if (received.length > numbers.length) throw new Rejection(999);
  const pictures = numbers.map((number): NewPicture => {
    // Clients send the number with or without the prefix.
    const named = (word: string) => [`${word}_${number}`, `${word}_p_${number}`];
    const field = (word: string) => named(word).flatMap((name) => fields[name] ?? [])[0];
    const image = received.find(({ name }) => named('image').includes(name));
    if (!image) throw new Rejection(1002);
    const layout = pictureLayouts.find((one) => one === (field('layout') ?? 'C'));
    if (!layout) throw new Rejection(999);
    return { number, received: image, layout, caption: text(field('desc')) };
  });
  checkPictures(received);
  return pictures;
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function pictureNumber(pid: string): number {
  const number = /^(?:p_)?([1-9]\d{0,5})$/.exec(pid)?.[1];
  if (number === undefined) throw new Rejection(999);
  return Number(number);
}

function keep({ notes, pictures }: Call, note: number, added: readonly NewPicture[]) {
  for (const { number, received, layout, caption } of added) {
    if (!notes.addPhoto(note, number, { picture: received.file, layout, caption })) throw new Rejection(999);
  }
  pictures.keep(added.map(({ received }) => received));
}

/** Stores the content in the tags of the text format, once the pictures of the note are stored. */
function rewritten(call: Call, id: number, written: Partial<NoteContent> & { content: string }): NoteRecord {
  const photos = call.notes.find(id)?.photos;
  call.notes.replace(id, { ...written, content: noteMarkup(written.content, (number) => photos?.get(number)) });
  return toRecord(call, call.notes.find(id)!);
}

function toRecord({ pictures }: Call, note: StoredNote, format: NoteFormat = 'text'): NoteRecord {
  if (!noteFormats.includes(format)) throw new Rejection(999);
  const photos = new Map([...note.photos].map(([number, { picture }]) => [number, pictures.urlOf(picture)]));
  return {
    id: String(note.id),
    alt: `https://www.catalog.example/note/${note.id}/`,
    title: note.title,
    summary: noteSummary(note.content),
    content: noteContent(note.content, format, photos),
    privacy: note.privacy,
    can_reply: note.can_reply === 1,
    publish_time: note.publish_time,
    update_time: note.update_time,
    photos: Object.fromEntries(photos),
    comments_count: note.comments_count,
    liked_count: note.liked_count,
    recs_count: note.recs_count,
  };
}
