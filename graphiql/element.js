export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A button with a text. */
export function button(textContent, onClick, properties = {}) {
  const made = element('button', { type: 'button', textContent, ...properties });
  made.addEventListener('click', onClick);
  return made;
}
