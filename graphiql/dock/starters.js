/** Documents to begin with, offered while the open tab is blank. */
import { modelOf, openDocument, watchEditors } from '../editors.js';
import { button, element } from '../element.js';

/** By name: the text, and the words by which the search finds it. */
export const starters = {
  'A film and its people': {
    words: ['film', 'movie', 'actor', 'casts', 'people', 'person'],
    text: `query FilmAndPeople {
  subject(id: "1295644") {
    title
    year
    directors { id name }
    casts { id name }
    reviews(first: 3) { nodes { title } }
  }
}
`,
  },
  'Films by one director': {
    words: ['director', 'works', 'rating', 'rated', 'filter', 'sort', 'order', 'above', 'below'],
    text: `# Films have no filter or order by rating:
# compare the ratings in the response.
# The id of another person is in "directors { id }".
query FilmsByDirector {
  celebrity(id: "1054524") {
    name
    works(first: 20) {
      nodes {
        roles
        subject { title year rating { average } }
      }
    }
  }
}
`,
  },
  'What annotators read': {
    words: ['annotator', 'annotation', 'reader', 'readers', 'read'],
    text: `# One call for each annotator: see its price below.
query WhatAnnotatorsRead {
  book(id: "6082808") {
    title
    annotations(first: 5) {
      nodes {
        author {
          name
          bookCollections(status: READ, first: 20) { nodes { book { title } } }
        }
      }
    }
  }
}
`,
  },
  'My shelf': {
    words: ['shelf', 'reading', 'library', 'tags'],
    text: `query MyShelf {
  user(id: "alice") {
    reading: bookCollections(status: READING, first: 5) {
      nodes { updatedAt book { title authors } }
    }
    bookTags(first: 5) { nodes { name count } }
  }
}
`,
  },
  'Events of a city': {
    words: ['city', 'event', 'weekend', 'today', 'tonight', 'tomorrow', 'date', 'beijing', 'shanghai'],
    text: `# Events have no filter by date: see "startsAt".
# Nothing lists the cities: an id is a word in pinyin.
query CityEvents {
  city(id: "beijing") {
    name
    events(first: 20) {
      nodes { startsAt endsAt title place }
    }
  }
}
`,
  },
};

const PAUSE_MS = 100;

/** Returns the row of buttons, and a function to be called when there are editors. */
export function createStarters() {
  const buttons = Object.entries(starters).map(([name, { text }]) => button(name, () => openDocument(text)));
  const row = element(
    'div',
    { className: 'dock-starters', hidden: true },
    element('span', { textContent: 'Start with' }),
    ...buttons,
  );
  const update = () => {
    const model = modelOf('operation.graphql');
    row.hidden = !model || model.getValue().trim() !== '';
  };
  return { row, watch: () => watchEditors(update, PAUSE_MS), update };
}
