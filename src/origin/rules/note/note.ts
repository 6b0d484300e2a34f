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
} from '../../../api/note.ts';
import { timestamp } from '../../store/clock.ts';
import type { Stored } from '../../store/database/schema.ts';
import { type Call, type Of, type Rules, numericId, owned, personOf, sliceOf } from '../call.ts';
import { noteContent, noteMarkup, noteSummary, pictureTag } from './note-text.ts';
import { briefUser, personNamed, personOfRow } from '../person.ts';
import { keepPictures, urlsByNumber } from '../picture.ts';
import { Rejection, found } from '../rejection.ts';

type NoteContent = Pick<Stored<'notes'>, 'title' | 'content' | 'privacy' | 'can_reply'>;

export const noteRules = {
  byId: (call, { id, format }) => toRecord(call, visibleNote(call, id), format),

  /** The notes of a person that the reader may see. */
  userCreated(call, { id, format, ...window }) {
    const person = personNamed(call, id);
    const privacy = notePrivacies.filter((privacy) => maySee(call, { person_id: person.id, privacy }));
    const { items, ...page } = call.db.list('notes', { person_id: person.id, privacy }, sliceOf(window));
    return { ...page, notes: items.map((note) => toRecord(call, note, format)) };
  },

  create(call, draft) {
    const content = checked(draft);
    const now = timestamp();
    const row = { person_id: personOf(call), ...content, publish_time: now, update_time: now, recs_count: 0 };
    const note = call.db.insert('notes', row);
    keepNumbered(call, note, draft);
    return rewritten(call, note, placed(call, note, content));
  },

  /** Sets what the draft leaves out to its default. Pictures remain, even if the content does not show them. */
  update(call, { id, ...draft }) {
    const note = ownNote(call, id);
    const content = checked(draft);
    keepNumbered(call, note, draft);
    return rewritten(call, note, placed(call, note, content));
  },

  addPictures(call, { id, ...draft }: Of & NotePictures & Partial<NoteDraft>) {
    const note = ownNote(call, id);
    const pictures = keepNumbered(call, note, draft);
    // An upload has no title: the client meant the PUT of the whole note.
    if (pictures.length === 0) throw new Rejection(draft.title && draft.content ? 1014 : 1002);
    if (draft.content !== undefined) return rewritten(call, note, placed(call, note, { content: draft.content }));
    const tags = pictures.map(({ number, layout, caption }) => pictureTag(number, layout, caption));
    return rewritten(call, note, { content: [note.content, ...tags].join('\n') });
  },

  delete(call, { id }) {
    const note = ownNote(call, id);
    call.unused.push(...picturesOf(call, note).map(({ picture }) => picture));
    call.db.remove('notes', { id: note.id });
    return {};
  },

  /** A second like changes nothing. */
  like(call, { id }) {
    call.db.insertNew('note_likes', { note_id: visibleNote(call, id).id, person_id: personOf(call) });
    return {};
  },

  unlike(call, { id }) {
    call.db.remove('note_likes', { note_id: visibleNote(call, id).id, person_id: personOf(call) });
    return {};
  },
} satisfies Partial<Rules<typeof noteEndpoints>>;

export function visibleNote(call: Call, id: string): Stored<'notes'> {
  const note = found(call.db.find('notes', { id: numericId(id) }), 1006);
  if (!maySee(call, note)) throw new Rejection(1000);
  return note;
}

/** Not specified: the code for changing the note of another person; 1000, because the interface specifies 6002 only for books. */
const ownNote = (call: Call, id: string) => owned(call, visibleNote(call, id), 1000);

function maySee(call: Call, { person_id, privacy }: Pick<Stored<'notes'>, 'person_id' | 'privacy'>): boolean {
  if (person_id === call.reader || privacy === 'public') return true;
  const friendship = { person_id, friend_id: personOf(call) };
  return privacy === 'friend' && call.db.find('friendships', friendship) !== undefined;
}

function checked({ title, content, privacy = 'public', can_reply = true }: NoteDraft): NoteContent {
  if (!title?.trim() || !content?.trim()) throw new Rejection(1002);
  const known = notePrivacies.find((one) => one === privacy);
  return { title, content, privacy: found(known, 999), can_reply: can_reply ? 1 : 0 };
}

/** Stores the pictures in `pids`, each with its file, layout and caption, and returns their rows. Others may get a new layout or caption. */
function keepNumbered(call: Call, note: Stored<'notes'>, draft: Partial<NotePictures>): Stored<'note_photos'>[] {
  const { received } = call;
  const fields: Record<string, unknown> = { ...draft };
  const numbers = (draft.pids ?? '').split(',').flatMap((pid) => (pid.trim() === '' ? [] : pictureNumber(pid.trim())));
  if (numbers.length > NOTE_PICTURES_MAX || new Set(numbers).size < numbers.length) throw new Rejection(999);
  if (received.length > numbers.length) throw new Rejection(999);
  // Clients send the number with or without the prefix.
  const named = (word: string, number: number) => [`${word}_${number}`, `${word}_p_${number}`];
  const field = (word: string, number: number) => named(word, number).flatMap((name) => fields[name] ?? [])[0];
  const layoutOf = (number: number, before: PictureLayout) => {
    const given = field('layout', number) ?? before;
    return found(
      pictureLayouts.find((one) => one === given),
      999,
    );
  };
  const rows = numbers.map((number) => {
    const image = received.find(({ name }) => named('image', number).includes(name));
    const picture = found(image, 1002).file;
    return { note_id: note.id, number, picture, layout: layoutOf(number, 'C'), caption: text(field('desc', number)) };
  });
  for (const { number, layout, caption } of picturesOf(call, note)) {
    const changes = { layout: layoutOf(number, layout), caption: text(field('desc', number) ?? caption) };
    const isChanged = changes.layout !== layout || changes.caption !== caption;
    if (isChanged && !numbers.includes(number)) call.db.update('note_photos', { note_id: note.id, number }, changes);
  }
  keepPictures(call, 'note_photos', rows);
  return rows;
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

const pictureNumber = (pid: string) => Number(found(/^(?:p_)?([1-9]\d{0,5})$/.exec(pid)?.[1], 999));

const picturesOf = ({ db }: Call, { id }: Stored<'notes'>) => db.rows('note_photos', { note_id: id });

/** The content in the tags of the text format, once the pictures of the note are stored. */
function placed<Written extends { content: string }>(call: Call, note: Stored<'notes'>, written: Written): Written {
  // Read once, because a content may show thousands of pictures.
  const photos = new Map(picturesOf(call, note).map((photo) => [photo.number, photo]));
  return { ...written, content: noteMarkup(written.content, (number) => photos.get(number)) };
}

function rewritten(call: Call, note: Stored<'notes'>, content: Partial<NoteContent>): NoteRecord {
  const changes = { ...content, update_time: timestamp() };
  call.db.update('notes', { id: note.id }, changes);
  return toRecord(call, { ...note, ...changes });
}

function toRecord(call: Call, note: Stored<'notes'>, format: NoteFormat = 'text'): NoteRecord {
  if (!noteFormats.includes(format)) throw new Rejection(999);
  const photos = urlsByNumber(call, picturesOf(call, note));
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
    comments_count: call.db.count('note_comments', { note_id: note.id }),
    liked_count: call.db.count('note_likes', { note_id: note.id }),
    recs_count: note.recs_count,
    author: briefUser(personOfRow(call, note)),
  };
}
