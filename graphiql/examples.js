/** The menu of the operations of the package, at the end of the header. A chosen one opens in a tab. */
import { openDocument } from './editors.js';
import { element } from './element.js';

export function addExamples(examples) {
  const menu = element('select', { ariaLabel: 'Examples' }, element('option', { textContent: 'Examples', value: '' }));
  const isWrite = ({ query }) => /^mutation\b/m.test(query);
  for (const [label, isShown] of [
    ['Queries', (example) => !isWrite(example)],
    ['Mutations', isWrite],
  ]) {
    const options = examples
      .filter(isShown)
      .map(({ name }) => element('option', { value: name, textContent: titleOf(name) }));
    menu.append(element('optgroup', { label }, ...options));
  }
  menu.addEventListener('change', () => {
    const { query, variables, headers } = examples.find(({ name }) => name === menu.value);
    menu.value = '';
    openDocument(query, variables, headers);
  });
  document.querySelector('.site').append(menu);
}

const titleOf = (name) => name[0].toUpperCase() + name.slice(1).replaceAll('-', ' ');
