/** What people ask for first by another name, and what they expect where the service has none: errors of validation name it. */

const film = ['subject', 'searchSubjects'];
const person = ['celebrity', 'user'];

/** What only the lists of an event's people tell. */
const ofEdge = (name: string) =>
  `Select it beside the person, in a list of an event: \`event(id:) { participants { edges { ${name} } } }\`.`;

/** By type and name: the fields that it has instead, or a sentence. Not in it: names that graphql-js finds by their letters. */
export const expectedFields: Readonly<Record<string, Readonly<Record<string, readonly string[] | string>>>> = {
  Query: {
    film,
    films: ['searchSubjects', 'top250'],
    movie: film,
    movies: ['searchSubjects', 'top250'],
    subjects: ['searchSubjects', 'top250'],
    actor: ['celebrity'],
    director: ['celebrity'],
    person,
    people: person,
    celebrities: 'Select them in a film: `subject(id:) { casts { name } directors { name } }`.',
    me: ['viewer'],
    profile: ['viewer', 'user'],
    currentUser: ['viewer'],
    search: ['searchBooks', 'searchSubjects'],
    bookSearch: ['searchBooks'],
    isbn: ['bookByIsbn'],
    events:
      'Select them in a city, or search for them with `searchEvents`: `city(id:) { events { nodes { title } } }`.',
    cinemas: ['inTheaters'],
    cities:
      'There is no list of cities: `city(id:)` takes the name that addresses of the service have, such as "beijing".',
    notes: 'Select them in a person: `user(id:) { notes { nodes { title } } }`.',
    shelf: 'Select it in a person: `user(id:) { bookCollections { nodes { book { title } } } }`.',
    collections: 'Select them in a person: `user(id:) { bookCollections { nodes { book { title } } } }`.',
    reviews: 'Select them in a film: `subject(id:) { reviews { nodes { title } } }`.',
    comments: 'Select them in a film or a note: `subject(id:) { comments { nodes { content } } }`.',
    tags: 'Select them in a book or a person: `book(id:) { tags { name } }`.',
  },
  Book: {
    name: ['title'],
    image: ['cover'],
    year: ['publishedOn'],
    reviews: 'The service has no list of the reviews of a book: a review can be written, not read.',
    comments: 'The service has no comments on a book: `annotations` are the notes of its readers.',
  },
  Subject: {
    name: ['title'],
    actors: ['casts'],
    images: ['poster'],
    image: ['poster'],
    type: ['subjectType'],
    popularReviews: ['reviews'],
    runtime: ['durations'],
    tags: ['genres'],
  },
  Celebrity: { films: ['works'], movies: ['works'], avatar: ['portrait'], avatars: ['portrait'] },
  User: {
    ...Object.fromEntries(['uid', 'signature', 'bio', 'homepageUrl'].map((name) => [name, ofEdge(name)])),
    city: ofEdge('city { name }'),
    reviews: 'The service has no list of the reviews by a person.',
    films: 'The service has no list of the films of a person.',
    books: ['bookCollections'],
    shelf: ['bookCollections'],
    tags: ['bookTags'],
  },
  Collection: { tags: ['tagNames'] },
  Annotation: { text: ['content'], photos: ['pictures'] },
  Note: { text: ['content'], photos: ['pictures'], comment: ['noteComment'], publishedAt: ['createdAt'] },
  Review: { votes: ['usefulCount'], useless: ['uselessCount'], publishedAt: ['createdAt'] },
  City: { films: ['inTheaters'], movies: ['inTheaters'], cinemas: ['inTheaters'] },
  Series: { name: ['title'] },
  Event: {
    name: ['title'],
    wishers: ['interestedPeople'],
    wishersCount: ['interestedPeopleCount'],
    location: ['place', 'coordinates'],
    end: ['endsAt'],
    author: ['organizer'],
  },
};
