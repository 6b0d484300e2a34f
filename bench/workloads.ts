/** The workloads: a document, its variables for the n-th request, and the expected data. */
import type { SubjectRecord } from '../src/api/film.ts';
import {
  book,
  bookTags,
  chart,
  cityEvents,
  collections,
  film,
  hash,
  participants,
  searchedFilms,
  worksOf,
} from './records.ts';

export type Variables = Record<string, string | number>;
export interface Workload {
  name: string;
  title: string;
  /** One document, or one for each variant. */
  document: string | ((variant: number) => string);
  /** The number of different requests, which are sent in a seeded order. */
  variants: number;
  variables: (variant: number) => Variables;
  truth: (variables: Variables) => object;
  /** Whether upstream responses may be cached, for 60 s. */
  reuse: boolean;
  /** The contestants; all by default. */
  contestants?: readonly string[];
  /** Atom documents declare namespace URIs other than those of the real service. */
  hasOtherNamespaces?: boolean;
  /** The workload whose endpoint of the limit is used; by default its own. */
  likeWorkload?: string;
}

/** Above the 8 tags that a book embeds, so that every contestant has to call the list, which always returns 50. */
export const TAGS = 9;
const USERS = 100;

const shelf = `query Shelf($user: ID!) {
  user(id: $user) {
    bookCollections(first: 20) {
      nodes { book { id title rating { average } tags(first: ${TAGS}) { name count } } }
    }
  }
}`;

function shelfOf({ user }: Variables): object {
  const nodes = collections(Number(user)).map(({ book }) => ({
    book: {
      id: `Book:${book!.id}`,
      title: book!.title,
      rating: { average: Number(book!.rating!.average) },
      tags: bookTags(Number(book!.id))
        .slice(0, TAGS)
        .map(({ title, count }) => ({ name: title, count })),
    },
  }));
  return { user: { bookCollections: { nodes } } };
}

const BOOK_DOCUMENT = `query Book($id: ID!) { book(id: $id) { id title authors publisher rating { average } } }`;

const oneBook: Workload = {
  name: 'W1',
  title: 'one book, 5 fields',
  document: BOOK_DOCUMENT,
  variants: 2000,
  variables: (variant) => ({ id: String(1 + variant) }),
  truth({ id }) {
    const { title, author, publisher, rating } = book(Number(id));
    return {
      book: { id: `Book:${id}`, title, authors: author, publisher, rating: { average: Number(rating!.average) } },
    };
  },
  reuse: false,
};

const day: Workload = {
  name: 'W5',
  title: 'one book, one film, 5 events of a city with 3 participants each',
  document: `query Day($book: ID!, $film: ID!, $city: ID!) {
  book(id: $book) { id title authors }
  subject(id: $film) { id title year genres }
  city(id: $city) { events(first: 5) { nodes { id title startsAt place participants(first: 3) { nodes { id name } } } } }
}`,
  variants: 200,
  variables: (variant) => ({
    book: String(1 + variant),
    film: String(1 + variant),
    city: `city${variant}`,
  }),
  truth(variables) {
    const { title, author } = book(Number(variables.book));
    const subject = film(Number(variables.film));
    const nodes = cityEvents(String(variables.city), 5).map(({ id, title, startTime, where }) => ({
      id: `Event:${id}`,
      title,
      startsAt: startTime,
      place: where,
      participants: {
        nodes: participants(Number(id), 3).map(({ id, name }) => ({ id: `User:${id}`, name })),
      },
    }));
    return {
      book: { id: `Book:${variables.book}`, title, authors: author },
      subject: { ...titled(subject), year: subject.year, genres: subject.genres },
      city: { events: { nodes } },
    };
  },
  reuse: false,
};

export const workloads: Workload[] = [
  oneBook,
  {
    name: 'W2',
    title: `20 collections of a user, of each the book and the first ${TAGS} of its tag list`,
    document: shelf,
    variants: USERS,
    variables: (variant) => ({ user: String(1 + variant) }),
    truth: shelfOf,
    reuse: false,
  },
  {
    name: 'W3',
    title: 'a chart page of 20 films, of each its people and their works',
    document: `query Chart($offset: Int!) {
  top250(first: 20, offset: $offset) { nodes { id title directors { ...person } casts { ...person } } }
}
fragment person on Celebrity { id name works(first: 5) { nodes { subject { id title } } } }`,
    variants: 231,
    variables: (variant) => ({ offset: variant }),
    truth({ offset }) {
      const person = ({ id, name }: { id: string | null; name: string }) => ({
        id: `Celebrity:${id}`,
        name,
        works: { nodes: worksOf(Number(id)).map(({ subject }) => ({ subject: titled(subject) })) },
      });
      const nodes = chart(Number(offset), 20).map((simple) => {
        const { directors, casts } = film(Number(simple.id));
        return { ...titled(simple), directors: directors!.map(person), casts: casts!.map(person) };
      });
      return { top250: { nodes } };
    },
    reuse: false,
  },
  {
    name: 'W4',
    title: 'film search, 20 x id and title',
    document: `query Search($query: String!) { searchSubjects(query: $query, first: 20) { nodes { id title } } }`,
    variants: 1000,
    variables: (variant) => ({ query: `film ${variant}` }),
    truth: ({ query }) => ({ searchSubjects: { nodes: searchedFilms(String(query)).map(titled) } }),
    reuse: false,
  },
  day,
  {
    name: 'W6',
    title: 'W2 of one user again and again, reuse allowed for 60 s',
    document: shelf,
    variants: 1,
    variables: () => ({ user: '1' }),
    truth: shelfOf,
    reuse: true,
  },
  {
    ...oneBook,
    name: 'W7',
    title: 'W1, every document new',
    document: (variant) => BOOK_DOCUMENT.replace('query Book', `query Book${variant}`),
    // More documents than any contestant caches, sent in turn: a repeated document is no longer cached.
    variants: 20_000,
    variables: (variant) => ({ id: String(1 + (variant % 2000)) }),
    contestants: ['product', 'apollo', 'yoga'],
  },
  {
    ...day,
    name: 'W5n',
    title: 'W5, with namespace URIs other than those of the real service',
    hasOtherNamespaces: true,
    likeWorkload: 'W5',
  },
];

const titled = ({ id, title }: SubjectRecord) => ({ id: `Subject:${id}`, title });

/** The variants in the order in which they are sent: shuffled, always the same. */
export function orderOf({ name, variants }: Workload): number[] {
  return Array.from({ length: variants }, (_, variant) => variant).sort(
    (a, b) => hash(`${name} ${a}`) - hash(`${name} ${b}`),
  );
}
