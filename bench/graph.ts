/** Shared by the GraphQL peers: the part of the schema that the workloads use, and a reader of Atom. */
import { XMLParser } from 'fast-xml-parser';

export const typeDefs = /* GraphQL */ `
  type Query {
    book(id: ID!): Book
    user(id: ID!): User
    top250(first: Int = 10, offset: Int): SubjectConnection
    searchSubjects(query: String, first: Int = 20): SubjectConnection
    subject(id: ID!): Subject
    city(id: ID!): City
  }
  type Book {
    id: ID!
    title: String!
    authors: [String!]!
    publisher: String
    rating: Rating!
    tags(first: Int = 8): [Tag!]
  }
  type Rating {
    average: Float
  }
  type Tag {
    name: String!
    count: Int!
  }
  type User {
    id: ID!
    name: String
    bookCollections(first: Int = 20): CollectionConnection
  }
  type CollectionConnection {
    nodes: [Collection!]!
  }
  type Collection {
    book: Book
  }
  type SubjectConnection {
    nodes: [Subject!]!
  }
  type Subject {
    id: ID!
    title: String!
    year: String
    genres: [String!]
    directors: [Celebrity!]
    casts: [Celebrity!]
  }
  type Celebrity {
    id: ID!
    name: String
    works(first: Int = 5): WorkConnection
  }
  type WorkConnection {
    nodes: [Work!]!
  }
  type Work {
    subject: Subject
  }
  type City {
    events(first: Int = 20): EventConnection
  }
  type EventConnection {
    nodes: [Event!]!
  }
  type Event {
    id: ID!
    title: String!
    startsAt: String
    place: String
    participants(first: Int = 20): UserConnection
  }
  type UserConnection {
    nodes: [User!]!
  }
`;

export interface EventEntry {
  id: string;
  title: string;
  startTime: string;
  where: string;
}
export interface PersonEntry {
  id: string;
  name: string;
}

interface Entry {
  id: string;
  title: string;
  'gd:when': { startTime: string };
  'gd:where': { valueString: string };
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  isArray: (name) => name === 'entry',
});

const entriesOf = (text: string) => (parser.parse(text) as { feed: { entry?: Entry[] } }).feed.entry ?? [];
const lastSegment = (url: string) => url.slice(url.lastIndexOf('/') + 1);

export const eventsIn = (text: string): EventEntry[] =>
  entriesOf(text).map((entry) => ({
    id: lastSegment(entry.id),
    title: entry.title,
    startTime: entry['gd:when'].startTime,
    where: entry['gd:where'].valueString,
  }));

export const peopleIn = (text: string): PersonEntry[] =>
  entriesOf(text).map((entry) => ({ id: lastSegment(entry.id), name: entry.title }));
