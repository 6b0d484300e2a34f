/**
 * Types and fields that an embedding program could add, for `--extended`: members of each record, drawn by a seed, values made of several,
 * calls, lists, records and a type of its own. The build imports it into the schema.
 */
import { type AnnotationRecord, bookEndpoints } from '../../src/api/book.ts';
import { type PhotoRecord, filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { builder } from '../../src/engine/builder.ts';
import '../../src/engine/fields/declare.ts';
import { asInt, asObjects, asText, textOrNull } from '../../src/engine/values/decode.ts';
import { Annotation } from '../../src/graph/book/annotation.ts';
import { Book } from '../../src/graph/book/book.ts';
import { Celebrity } from '../../src/graph/film/celebrity.ts';
import { Photo } from '../../src/graph/film/photo.ts';
import { Subject } from '../../src/graph/film/subject.ts';
import { Note } from '../../src/graph/note/note.ts';
import { createRandom } from './random.ts';

const random = createRandom('extension');
/** Members that are texts. */
const textMembers = {
  book: [
    'title',
    'origin_title',
    'alt_title',
    'subtitle',
    'publisher',
    'pubdate',
    'binding',
    'price',
    'pages',
    'isbn13',
  ],
  film: ['title', 'original_title', 'year', 'mainland_pubdate', 'mobile_url', 'summary'],
  person: ['name', 'name_en', 'gender', 'born_place', 'summary'],
  note: ['title', 'content', 'summary', 'alt'],
} as const;
const nullIf = 'the service has none';
const drawn = <Member extends string>(members: readonly Member[]): Member => random.pick(members);

builder.objectFields(Book, (t) => ({
  addedMember: t.reads(drawn(textMembers.book), textOrNull, 'A member.'),
  addedOther: t.reads(drawn(textMembers.book), textOrNull, 'Another member.'),
  addedTitles: t.computed({
    type: ['String'],
    description: 'Its titles.',
    needs: ['title', 'subtitle', 'alt_title'],
    resolve: ({ title, subtitle, alt_title }) => [title, subtitle, alt_title].map(asText).filter(Boolean),
  }),
  addedTagsCount: t.call({
    type: 'Int',
    description: 'By a call.',
    nullIf,
    endpoint: bookEndpoints.tags,
    from: ['id'],
    input: ({ id }) => ({ id, count: 8 }),
    resolve: ({ total }) => asInt(total),
  }),
  addedAnnotations: t.connection({
    type: Annotation,
    description: 'A list of the service.',
    endpoint: bookEndpoints.annotations,
    from: ['id'],
    input: ({ id }) => ({ id }),
  }),
}));

const Shelf = builder.objectRef<AnnotationRecord>('AddedMark').implement({
  description: 'A type of its own.',
  members: ['id', 'chapter', 'page_no', 'book', 'book_id'],
  fields: (t) => ({
    chapter: t.reads('chapter', textOrNull, 'The chapter.'),
    // As `createFacade` takes what a program declares.
    book: t.record(Book, { member: 'book', id: 'book_id' }, 'The book.', { representation: { members: ['id'] } }),
  }),
});
builder.objectField(Book, 'addedMarks', (t) =>
  t.call({
    type: [Shelf],
    description: 'Items of a type of its own.',
    nullIf,
    endpoint: bookEndpoints.annotations,
    from: ['id'],
    input: ({ id }) => ({ id, count: 5 }),
    assumedSize: 5,
    resolve: ({ annotations }) => asObjects<AnnotationRecord>(annotations),
  }),
);

builder.objectFields(Subject, (t) => ({
  addedMember: t.reads(drawn(textMembers.film), textOrNull, 'A member.'),
  addedPhotos: t.connection({
    type: Photo,
    description: 'A list of the service.',
    endpoint: filmEndpoints.photos,
    from: ['id'],
    input: ({ id }) => ({ id: asText(id) }),
    items: ({ photos }) => asObjects<PhotoRecord>(photos),
  }),
}));
builder.objectField(Celebrity, 'addedMember', (t) => t.reads(drawn(textMembers.person), textOrNull, 'A member.'));
builder.objectFields(Note, (t) => ({
  addedMember: t.reads(drawn(textMembers.note), textOrNull, 'A member.'),
  addedLength: t.computed({
    type: 'Int',
    description: 'The characters of its title.',
    needs: ['title'],
    resolve: ({ title }) => asText(title).length,
  }),
  addedAgain: t.call({
    type: Note,
    description: 'The note, by a call of its own.',
    nullIf,
    endpoint: noteEndpoints.byId,
    from: ['id'],
    input: ({ id }) => ({ id: asText(id) }),
  }),
}));
