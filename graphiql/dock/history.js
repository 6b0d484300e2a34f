/** The section of the history: the documents that were run last. Headers are not kept, because they may have tokens. */
import { modelOf, openDocument } from '../editors.js';
import { button, element } from '../element.js';
import { store, stored } from '../storage.js';

const STORED = 'history';
const SHOWN = 30;
/** Characters of a document that is kept. */
const DOCUMENT_MAX = 20_000;

export function createHistory(operations) {
  const content = element('div', { className: 'dock-list', role: 'region', ariaLabel: 'Documents that were run' });
  let entries = read();
  show();

  operations.onStart((_, request) => {
    // As it is written: GraphiQL sends it without blanks and comments.
    const query = modelOf('operation.graphql')?.getValue() ?? '';
    if (!query.trim() || query.length > DOCUMENT_MAX) return;
    const variables = modelOf('variables.json')?.getValue();
    const entry = { query, variables, operationName: request?.operationName, at: Date.now() };
    const isSame = (each) => each.query === entry.query && each.variables === entry.variables;
    entries = [entry, ...entries.filter((each) => !isSame(each))].slice(0, SHOWN);
    store(STORED, JSON.stringify(entries));
    show();
  });

  function show() {
    const items = entries.map((entry) =>
      element(
        'li',
        {},
        button(titleOf(entry), () => openDocument(entry.query, entry.variables)),
        element('span', { className: 'dock-weak', textContent: timeOf(entry.at) }),
      ),
    );
    const clear = button('Clear', () => {
      entries = [];
      store(STORED, '[]');
      show();
    });
    content.replaceChildren(
      ...(items.length > 0
        ? [element('ul', {}, ...items), element('p', {}, clear)]
        : [element('p', { textContent: 'What you run is listed here, and opens again in a tab.' })]),
    );
  }

  return { name: 'History', content };
}

/** The name of the operation and the beginning of the document. */
function titleOf({ query, operationName }) {
  const text = query
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = text.length > 120 ? `${text.slice(0, 119)}…` : text;
  return operationName && !shown.includes(operationName) ? `${operationName}: ${shown}` : shown;
}

const timeOf = (at) => new Date(at).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short' });

function read() {
  try {
    return JSON.parse(stored(STORED)).filter(({ query }) => typeof query === 'string');
  } catch {
    return []; // nothing, or not what this page stores
  }
}
