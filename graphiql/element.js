export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A table of rows below the names of its columns. */
export function tableWith(columns, rows, properties = {}) {
  const table = element('table', properties);
  const heads = columns.map((textContent) => element('th', { scope: 'col', textContent }));
  table.createTHead().append(element('tr', {}, ...heads));
  table.createTBody().append(...rows);
  return table;
}

/** A button with a text. */
export function button(textContent, onClick, properties = {}) {
  const made = element('button', { type: 'button', textContent, ...properties });
  made.addEventListener('click', onClick);
  return made;
}
