/** The section of the search: everyday words find fields and types, by their names and descriptions. */
import { openDocument } from '../editors.js';
import { button, element } from '../element.js';
import { priceWords } from './everyday-words.js';
import { documentFor, entriesOf, searchEntries } from './schema-search.js';

const PAUSE_MS = 150;
const SHOWN = 25;
/** Characters of a description that are shown. */
const DESCRIPTION = 180;

/** `load` returns the result of an introspection; `openPrice` shows the price, undefined if there is none. */
export function createSearch(load, openPrice) {
  const input = element('input', {
    type: 'search',
    placeholder: 'film, weekend, shelf, cheaper …',
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
    const found = searchEntries(entriesOf(schema), text);
    const isPrice =
      openPrice &&
      text
        .toLowerCase()
        .split(/\W+/)
        .some((word) => priceWords.includes(word));
    status.textContent =
      text.trim() === ''
        ? ''
        : found.length > 0 || isPrice
          ? found.length > SHOWN
            ? `The first ${SHOWN} of ${found.length}`
            : `${found.length} found`
          : 'Nothing has these words.';
    const price = element(
      'li',
      {},
      button('Price: what the open document costs, and what makes it cheaper', openPrice ?? (() => undefined)),
    );
    results.replaceChildren(
      ...(isPrice ? [price] : []),
      ...found.slice(0, SHOWN).map((entry) => itemOf(schema, entry)),
    );
  }

  /** Loads the schema before anything is typed. */
  const open = () => void (loaded ??= load()).catch(() => undefined);
  return { name: 'Find', content, open };
}

function itemOf(schema, entry) {
  const { coordinate, description, type, arguments: names = [], field } = entry;
  const signature = `${coordinate}${names.length > 0 ? `(${names.map((name) => `${name}:`).join(' ')})` : ''}${type ? `: ${type}` : ''}`;
  const document = field && documentFor(schema, entry);
  const about = description.replaceAll(/\s+/g, ' ');
  const shown = about.length > DESCRIPTION ? `${about.slice(0, DESCRIPTION)}…` : about;
  return element(
    'li',
    {},
    element('code', { textContent: signature }),
    ...(document ? [button('Try it', () => openDocument(document), { ariaLabel: `Try ${coordinate}` })] : []),
    element('span', { className: 'dock-weak', textContent: shown, title: about }),
  );
}
