/** The dock below GraphiQL: a bar with a button for each section, of which at most one is open, and the sections. */
import { watchTabs } from '../editors.js';
import { element } from '../element.js';
import { store, stored } from '../storage.js';

const STORED = 'calls';
const CLOSED = 'closed';

/**
 * A section has a `name`, its `content`, what stands `about` it in its button, and may have `update` for a change of tab, `open` for when it
 * is opened, `focus` for when the user opens it, and `watch` for when there are editors. `tools` are shown in the bar, and `row` above it.
 * Returns `watch`, to be called when there are editors, and `show`, which opens a section.
 */
export function createDock(sections, tools, row) {
  const head = element('div', { className: 'calls-head' });
  const dock = element(
    'section',
    { className: 'calls', ariaLabel: 'Calls, price and tools' },
    ...(row ? [row] : []),
    head,
  );
  const bars = new Map();
  for (const section of sections) {
    const { name, about, content } = section;
    const bar = element(
      'button',
      { className: `calls-bar calls-bar-${name.toLowerCase()}`, type: 'button' },
      element('span', { className: 'calls-arrow', ariaHidden: 'true' }),
      element('span', { className: 'calls-title', textContent: name }),
      ...(about ? [about] : []),
    );
    content.id = `dock-${name.toLowerCase()}`;
    bar.setAttribute('aria-controls', content.id);
    bar.addEventListener('click', () => {
      choose(name === opened ? CLOSED : name);
      if (opened === name) section.focus?.();
    });
    bars.set(section, bar);
    head.append(bar);
    dock.append(content);
  }
  head.append(...tools);
  document.body.append(dock);
  let opened = firstSection(sections);
  show(opened);

  function show(name) {
    opened = name;
    for (const [section, bar] of bars) {
      const isOpen = section.name === name;
      bar.setAttribute('aria-expanded', String(isOpen));
      section.content.hidden = !isOpen;
      if (isOpen) section.open?.();
    }
  }

  function choose(name) {
    show(name);
    store(STORED, opened);
  }

  const watch = () => {
    for (const section of sections) section.watch?.();
    watchTabs(() => sections.forEach(({ update }) => update?.()));
  };
  return { watch, show: choose };
}

/** The section that was open last. On a small screen none is at first: the editor needs the place. */
function firstSection(sections) {
  const last = stored(STORED);
  if (last === CLOSED || sections.some(({ name }) => name === last)) return last;
  return matchMedia('(max-width: 700px)').matches ? CLOSED : sections[0].name;
}
