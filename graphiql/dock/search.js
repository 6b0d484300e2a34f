/** The section of the search: everyday words find fields and types, by their names and descriptions. */
import { openDocument } from '../editors.js';
import { button, element } from '../element.js';
import { sectionsByWords } from './everyday-words.js';
import { documentFor, entriesOf, isSameWord, searchEntries, searchesFor, wordsOf } from './schema-search.js';
import { starters } from './starters.js';

const PAUSE_MS = 150;
const SHOWN = 25;
/** Characters of a description that are shown. */
const DESCRIPTION = 180;

/** `load` returns the result of an introspection; `sections` are the names of the other sections, and `openSection` opens one. */
export function createSearch(load, sections, openSection) {
  const input = element('input', {
    type: 'search',
    placeholder: 'films by a director, weekend, shelf, cheaper …',
    ariaLabel: 'Search the schema',
  });
  const status = element('span', { className: 'dock-weak' });
  status.setAttribute('role', 'status');
  const results = element('ul', { className: 'search-results' });
  const content = element(
    'div',
    { className: 'dock-list', role: 'region', ariaLabel: 'Search' },
    input,
    ' ',
    status,
    results,
  );
  let loaded;
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE_MS);
  });

  async function search() {
    const text = input.value;
    loaded ??= load();
    const schema = await loaded.catch(() => undefined);
    if (!schema) {
      loaded = undefined;
      status.textContent = 'The schema could not be loaded.';
      return;
    }
    if (text !== input.value) return; // more has been typed meanwhile
    const { found, missed, isPartial } = searchEntries(entriesOf(schema), text);
    const answers = answersTo(wordsOf(text));
    const isSilent = text.trim() === '' || (found.length === 0 && answers.length > 0);
    status.textContent = isSilent ? '' : statusOf(found.length, missed, isPartial);
    const offered = answers.length > 0 ? answers : searchesOf(schema, missed);
    results.replaceChildren(
      ...(offered.length > 0 ? [element('li', {}, ...offered)] : []),
      ...found.slice(0, SHOWN).map((entry) => itemOf(schema, entry)),
    );
  }

  /** Buttons for the sections and documents that answer the question as a whole, the documents with the most of the words first. */
  function answersTo(words) {
    const hitsIn = (theirs) => words.filter((word) => theirs.some((each) => isSameWord(word, each))).length;
    const opened = Object.entries(sectionsByWords)
      .filter(([name, about]) => sections.includes(name) && hitsIn(about.words) > 0)
      .map(([name, { says }]) => button(says, () => openSection(name)));
    const started = Object.entries(starters)
      .map(([name, about]) => ({ name, text: about.text, count: hitsIn(about.words) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .map(({ name, text }) => button(`Start with: ${name}`, () => openDocument(text), { className: 'price-hint' }));
    return [...opened, ...started];
  }

  /** Loads the schema before anything is typed. */
  const open = () => void (loaded ??= load()).catch(() => undefined);
  return { name: 'Find', content, open, focus: () => input.focus() };
}

/** Buttons that search the data for the words that the schema does not have; none if it has all. */
function searchesOf(schema, missed) {
  if (missed.length === 0) return [];
  const words = missed.join(' ');
  return searchesFor(schema, words).map(({ name, text }) => button(`${name}: “${words}”`, () => openDocument(text)));
}

function statusOf(count, missed, isPartial) {
  const counted = count > SHOWN ? `The first ${SHOWN} of ${count}` : `${count} found`;
  const quoted = missed.map((word) => `“${word}”`).join(', ');
  if (missed.length > 0) return count > 0 ? `${counted}; nothing has ${quoted}` : `Nothing has ${quoted}.`;
  return isPartial ? `${counted}; nothing has all of these words` : counted;
}

function itemOf(schema, entry) {
  const { coordinate, description, type, arguments: names = [], field } = entry;
  const signature = `${coordinate}${names.length > 0 ? `(${names.map((name) => `${name}:`).join(' ')})` : ''}${type ? `: ${type}` : ''}`;
  const document = field && documentFor(schema, entry);
  const about = description.replaceAll(/\s+/g, ' ').replaceAll('`', '');
  const shown = about.length > DESCRIPTION ? `${about.slice(0, DESCRIPTION)}…` : about;
  return element(
    'li',
    {},
    element('code', { textContent: signature }),
    ...(document ? [button('Try it', () => openDocument(document), { ariaLabel: `Try ${coordinate}` })] : []),
    element('span', { className: 'dock-weak', textContent: shown, title: about }),
  );
}
