/** Documents to begin with, offered while the open tab is blank. */
import { modelOf, openDocument, watchEditors } from '../editors.js';
import { button, element } from '../element.js';

export const starters = {
  'A film and its people': `query FilmAndPeople {
  subject(id: "1295644") {
    title
    year
    directors { name }
    casts { name }
    reviews(first: 3) { nodes { title } }
  }
}
`,
  'My shelf': `query MyShelf {
  user(id: "alice") {
    reading: bookCollections(status: READING, first: 5) {
      nodes { updatedAt book { title authors } }
    }
    bookTags(first: 5) { nodes { name count } }
  }
}
`,
  'Events of a city': `query CityEvents {
  city(id: "beijing") {
    name
    events(first: 5) {
      nodes { title startsAt place }
    }
  }
}
`,
};

const PAUSE_MS = 100;

/** Returns the row of buttons, and a function to be called when there are editors. */
export function createStarters() {
  const buttons = Object.entries(starters).map(([name, text]) => button(name, () => openDocument(text)));
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
