/** The switch of the person: who sends the requests of all tabs. An Authorization in the headers of a tab comes first. */
import { element } from './element.js';
import { store, stored } from './storage.js';

/** Shared with the page at /. */
const STORED = 'person';

let authorization;

/** Adds the token of the person to headers without one. */
export function withPerson(headers) {
  const isOwn = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return authorization && !isOwn ? { ...headers, authorization } : headers;
}

/**
 * Sends all operations of the page as the person who is chosen. Returns the `label` with the switch; `send`, a fetch that adds no token; and
 * `watch`, whose listener is called for each change.
 */
export function createPersonSwitch(people) {
  const send = window.fetch.bind(window);
  window.fetch = (input, options = {}) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    if (url.origin !== location.origin || url.pathname !== location.pathname) return send(input, options);
    const headers = withPerson(Object.fromEntries(new Headers(options.headers)));
    return send(input, { ...options, headers });
  };
  const listeners = [];
  const select = element('select', {});
  select.append(
    ...people.map(({ name, about }) => element('option', { value: name, textContent: name, title: about })),
  );
  const choose = (name) => {
    const person = people.find((each) => each.name === name) ?? people[0];
    select.value = person.name;
    select.title = person.about;
    authorization = person.authorization;
    for (const onPerson of listeners) onPerson();
  };
  select.addEventListener('change', () => {
    store(STORED, select.value);
    choose(select.value);
  });
  choose(stored(STORED));
  const label = element('label', { className: 'calls-person', textContent: 'Sent as ' });
  label.append(select);
  return { label, send, watch: (onPerson) => void listeners.push(onPerson) };
}
