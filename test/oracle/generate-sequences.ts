/** Sequences of operations that depend on each other: reads before and after a write, writes to the same list. */
import type { CaseOperation, Step } from './generate-case.ts';
import { type Random, createRandom } from './random.ts';
import type { Ids } from './world.ts';

type Via = 'post' | 'pipeline';

/** Without the last, which does not exist. */
const existing = (kind: readonly string[]): readonly string[] => kind.slice(0, -1);

/** Two writes after one another that change the same list, which is shown after each. */
export function twice(asked: CaseOperation, ids: Ids, chance: number): CaseOperation {
  const random = createRandom(chance);
  const event = random.pick(existing(ids.event));
  const note = ids.note[0]!;
  const shown = 'event {participants {nodes {id}} interestedPeople {nodes {id}}}';
  const [one, other] = random.shuffled(['joinEvent', 'leaveEvent', 'addEventInterest']);
  const document = random.pick([
    `mutation {a: ${one}(input: {id: "${event}"}) {${shown}} b: ${other}(input: {id: "${event}"}) {${shown}}}`,
    `mutation {a: createNoteComment(input: {noteId: "${note}", content: "One"}) {note {comments {nodes {content}}}} b: createNoteComment(input: {noteId: "${note}", content: "Two"}) {note {comments {nodes {content}}}}}`,
  ]);
  return { ...asked, document, variables: {} };
}

/** A person reads, writes something that changes the result, and reads again. */
export function crossing(person: string, ids: Ids, via: Via, chance: number): CaseOperation[] {
  const random = createRandom(chance);
  const client = { via };
  const book = random.pick(existing(ids.book));
  const event = random.pick(existing(ids.event));
  const note = ids.note[0]!;
  const [read, write] = random.pick<readonly [string, string]>([
    [
      `{book(id: "${book}") {title viewerCollection {status comment tagNames}}}`,
      `mutation {collectBook(input: {bookId: "${book}", status: READ, comment: "new", onConflict: REPLACE, isPrivate: false}) {created}}`,
    ],
    [
      `{book(id: "${book}") {viewerCollection {status}}}`,
      `mutation {deleteCollection(input: {bookId: "${book}"}) {book {id}}}`,
    ],
    [
      `{event(id: "${event}") {participantsCount viewerRelation}}`,
      `mutation {joinEvent(input: {id: "${event}"}) {event {id}}}`,
    ],
    [
      `{event(id: "${event}") {participants {nodes {id}}}}`,
      `mutation {leaveEvent(input: {id: "${event}"}) {event {id viewerRelation}}}`,
    ],
    [
      `{event(id: "${event}") {participantsCount participants {totalCount}}}`,
      `mutation {joinEvent(input: {id: "${event}"}) {event {id}}}`,
    ],
    [
      `{book(id: "${book}") {annotations {totalCount nodes {content}}}}`,
      `mutation {createAnnotation(input: {bookId: "${book}", content: "A text that is longer than fifteen characters.", page: 7}) {annotation {id}}}`,
    ],
    [`{note(id: "${note}") {likesCount}}`, `mutation {likeNote(input: {id: "${note}"}) {note {likesCount}}}`],
  ]);
  const of = (document: string, by: string | null): CaseOperation => ({ document, variables: {}, person: by, client });
  // What a person sees of their own is not cached; what anybody sees is.
  const reader = () => (read.includes('viewer') ? person : random.pick([null, person]));
  return [of(read, reader()), of(write, person), of(read, reader())];
}

/** Several people read something, one of them changes it, and all read it again. */
export function rereading([writer, other]: readonly string[], ids: Ids, via: Via, chance: number): Step[] {
  const random = createRandom(chance);
  const { reads, writes } = random.pick(changes)(random, ids, ids.person[writer!]!);
  const of = (person: string | null, document: string): CaseOperation => ({
    document,
    variables: {},
    person,
    client: { via },
  });
  const readers = random.some([null, writer!, other!], random.int(1, 2));
  const all = random
    .some(reads, readers.length === 1 ? random.int(1, 3) : 1)
    .flatMap((read) => readers.map((each) => of(each, read)));
  const steps = (operations: CaseOperation[]): Step[] =>
    random.chance(0.3) ? [{ operations }] : operations.map((each) => ({ operations: [each] }));
  return [...steps(all), { operations: [of(writer!, `mutation {${random.pick(writes)}}`)] }, ...steps(all)];
}

/** Writes of a person with this id, and reads whose result they change. */
type Change = (random: Random, ids: Ids, person: string) => { reads: string[]; writes: string[] };

const changes: readonly Change[] = [
  (random, ids, person) => {
    const book = random.pick(existing(ids.book));
    const privately = `isPrivate: ${random.chance(0.3)}`;
    return {
      reads: [
        `{book(id: "${book}") {title viewerCollection {status comment rating {value}}}}`,
        `{book(id: "${book}") {id collection(userId: "${person}") {status comment tagNames}}}`,
        `{user(id: "${person}") {bookCollections(first: 10) {totalCount nodes {status comment book {title}}}}}`,
        `{user(id: "${person}") {bookCollections(status: READ) {nodes {id status updatedAt}}}}`,
        `{node(id: "Collection:${person}:${book}") {id ... on Collection {status comment}}}`,
      ],
      writes: [
        `collectBook(input: {bookId: "${book}", status: READ, comment: "new", onConflict: REPLACE, ${privately}}) {created}`,
        `replaceCollection(input: {bookId: "${book}", status: READ, comment: "new", ${privately}}) {collection {status}}`,
        `deleteCollection(input: {bookId: "${book}"}) {book {id}}`,
      ],
    };
  },
  (random, ids, person) => {
    const book = random.pick(existing(ids.book));
    const annotation = random.pick(existing(ids.annotation));
    const input = `bookId: "${book}", content: "A text that is longer than fifteen characters.", isPrivate: ${random.chance(0.3)}`;
    return {
      reads: [
        `{book(id: "${book}") {annotations {totalCount nodes {id content}}}}`,
        `{user(id: "${person}") {annotations {nodes {id content}}}}`,
        `{annotation(id: "${annotation}") {content book {title}}}`,
      ],
      writes: [
        `createAnnotation(input: {${input}, page: 7}) {annotation {id}}`,
        `deleteAnnotation(input: {id: "${annotation}"}) {deletedId}`,
      ],
    };
  },
  (random, ids, person) => {
    const event = random.pick(existing(ids.event));
    const input = `input: {id: "${event}"}`;
    return {
      reads: [
        `{event(id: "${event}") {title participantsCount viewerRelation}}`,
        `{event(id: "${event}") {participants {totalCount nodes {id name}}}}`,
        `{event(id: "${event}") {interestedPeople {nodes {id}}}}`,
        `{user(id: "${person}") {events {nodes {id participantsCount viewerRelation}}}}`,
        `{user(id: "${person}") {events(relation: PARTICIPATING) {nodes {title}}}}`,
        `{city(id: "${ids.city[0]}") {events {nodes {id participantsCount}}}}`,
      ],
      writes: ['joinEvent', 'leaveEvent', 'addEventInterest', 'removeEventInterest'].map(
        (name) => `${name}(${input}) {event {id}}`,
      ),
    };
  },
  (random, ids, person) => {
    const note = random.pick(existing(ids.note));
    return {
      reads: [
        `{note(id: "${note}") {title likesCount}}`,
        `{note(id: "${note}") {comments {nodes {id content}}}}`,
        `{note(id: "${note}") {noteComment(id: "${ids.comment[0]}") {content}}}`,
        `{user(id: "${person}") {notes {nodes {id likesCount}}}}`,
      ],
      writes: [
        `likeNote(input: {id: "${note}"}) {note {id}}`,
        `unlikeNote(input: {id: "${note}"}) {note {id}}`,
        `createNoteComment(input: {noteId: "${note}", content: "Said"}) {comment {id}}`,
        `deleteNoteComment(input: {noteId: "${note}", commentId: "${ids.comment[0]}"}) {deletedId}`,
      ],
    };
  },
];
