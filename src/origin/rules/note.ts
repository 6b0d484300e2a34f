import { COUNT_DEFAULT } from '../../api/book.ts';
import type { Window } from '../../api/endpoint.ts';
import {
  NOTE_PICTURES_MAX,
  type NoteDraft,
  type NoteFormat,
  type NotePage,
  type NotePictures,
  type NotePrivacy,
  type NoteQuery,
  type NoteRecord,
  type PictureLayout,
  noteFormats,
  notePrivacies,
  pictureLayouts,
} from '../../api/note.ts';
import type { NoteContent, StoredNote } from '../store/note.ts';
import type { ReceivedPicture } from '../store/pictures.ts';
import type { Stores } from '../store/stores.ts';
import { noteContent, noteMarkup, noteSummary, pictureTag } from './note-text.ts';
import { numericId } from './numeric-id.ts';
import { personNamed } from './person.ts';
import { checkPictures } from './picture.ts';
import { Rejection } from './rejection.ts';

interface NewPicture {
  number: number;
  received: ReceivedPicture;
  layout: PictureLayout;
  caption: string;
}

export function noteById(stores: Stores, reader: string, id: string, { format }: NoteQuery): NoteRecord {
  return toRecord(stores, visibleNote(stores, reader, id), format);
}

/** The notes of a person that the reader may see, newest first. */
export function notesOfPerson(stores: Stores, reader: string, name: string, query: NoteQuery & Window): NotePage {
  const { start = 0, count = COUNT_DEFAULT, format } = query;
  const person = personNamed(stores.people, name);
  const privacies = notePrivacies.filter((privacy) => maySee(stores, reader, { person_id: person.id, privacy }));
  const { total, items } = stores.notes.ofPerson(person.id, privacies, { start, count });
  return { start, count, total, notes: items.map((note) => toRecord(stores, note, format)) };
}

export function createNote(
  stores: Stores,
  reader: string,
  draft: NoteDraft,
  received: readonly ReceivedPicture[],
): NoteRecord {
  const checkedDraft = checked(draft);
  const pictures = newPictures(draft, received);
  return stores.transaction(() => {
    const id = stores.notes.add(reader, checkedDraft);
    keep(stores, id, pictures);
    return rewritten(stores, id, checkedDraft);
  });
}

/** Sets what the draft leaves out to its default. Pictures remain, even if the content does not show them. */
export function updateNote(
  stores: Stores,
  reader: string,
  id: string,
  draft: NoteDraft,
  received: readonly ReceivedPicture[],
): NoteRecord {
  const note = ownNote(stores, reader, id);
  const checkedDraft = checked(draft);
  const pictures = newPictures(draft, received);
  return stores.transaction(() => {
    keep(stores, note.id, pictures);
    return rewritten(stores, note.id, checkedDraft);
  });
}

export function addNotePictures(
  stores: Stores,
  reader: string,
  id: string,
  draft: NotePictures & Partial<NoteDraft>,
  received: readonly ReceivedPicture[],
): NoteRecord {
  const note = ownNote(stores, reader, id);
  const pictures = newPictures(draft, received);
  // An upload has no title: the client meant the PUT of the whole note.
  if (pictures.length === 0) throw new Rejection(draft.title && draft.content ? 1014 : 1002);
  return stores.transaction(() => {
    keep(stores, note.id, pictures);
    const tags = pictures.map(({ number, layout, caption }) => pictureTag(number, layout, caption));
    return rewritten(stores, note.id, { content: draft.content ?? [note.content, ...tags].join('\n') });
  });
}

export function deleteNote(stores: Stores, reader: string, id: string) {
  const note = ownNote(stores, reader, id);
  stores.notes.remove(note.id);
  stores.pictures.remove([...note.photos.values()].map(({ picture }) => picture));
  return {};
}

/** A second like changes nothing. */
export function likeNote(stores: Stores, reader: string, id: string) {
  stores.notes.like(visibleNote(stores, reader, id).id, reader);
  return {};
}

export function unlikeNote(stores: Stores, reader: string, id: string) {
  stores.notes.unlike(visibleNote(stores, reader, id).id, reader);
  return {};
}

export function visibleNote(stores: Stores, reader: string, id: string): StoredNote {
  const note = stores.notes.find(numericId(id));
  if (!note) throw new Rejection(1006);
  if (!maySee(stores, reader, note)) throw new Rejection(1000);
  return note;
}

/** Not specified: the code for changing the note of another person; 1000, because the interface specifies 6002 only for books. */
function ownNote(stores: Stores, reader: string, id: string): StoredNote {
  const note = visibleNote(stores, reader, id);
  if (note.person_id !== reader) throw new Rejection(1000);
  return note;
}

function maySee(
  { people }: Stores,
  reader: string,
  { person_id, privacy }: { person_id: string; privacy: NotePrivacy },
) {
  if (person_id === reader || privacy === 'public') return true;
  return privacy === 'friend' && people.areFriends(person_id, reader);
}

function checked({ title, content, privacy = 'public', can_reply = true }: NoteDraft): NoteContent {
  if (!title?.trim() || !content?.trim()) throw new Rejection(1002);
  const valid = notePrivacies.find((one) => one === privacy);
  if (!valid) throw new Rejection(999);
  return { title, content, privacy: valid, can_reply: can_reply ? 1 : 0 };
}

/** The pictures in `pids`, each with its file, layout and caption. */
function newPictures(draft: { pids?: string | undefined }, received: readonly ReceivedPicture[]): NewPicture[] {
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

function keep({ notes, pictures }: Stores, note: number, added: readonly NewPicture[]) {
  for (const { number, received, layout, caption } of added) {
    if (!notes.addPhoto(note, number, { picture: received.file, layout, caption })) throw new Rejection(999);
  }
  pictures.keep(added.map(({ received }) => received));
}

/** Stores the content in the tags of the text format, once the pictures of the note are stored. */
function rewritten(stores: Stores, id: number, written: Partial<NoteContent> & { content: string }): NoteRecord {
  const photos = stores.notes.find(id)?.photos;
  stores.notes.replace(id, { ...written, content: noteMarkup(written.content, (number) => photos?.get(number)) });
  return toRecord(stores, stores.notes.find(id)!);
}

function toRecord({ pictures }: Stores, note: StoredNote, format: NoteFormat = 'text'): NoteRecord {
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
