/** Starts GraphiQL with the settings of the page. */
import { boundAddress } from './address.js';
import { showCalls } from './calls.js';
import { linkHelp } from './help-links.js';
import { answerIntrospection } from './introspection.js';
import { createPersonSwitch } from './people.js';
import { ensureStorage } from './storage.js';
import { element } from './trace.js';

const { workers, options, explain, people, schema } = JSON.parse(document.querySelector('#settings').textContent);

ensureStorage();
boundAddress();
window.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_, label) => workers[label] };
if (schema) answerIntrospection(schema);
const person = people && createPersonSwitch(people);
const onEditors = explain ? showCalls(person) : () => undefined;
if (person && !explain) document.body.append(barOf(person.label));

// The scripts of GraphiQL, which come after this one, have run by then.
document.addEventListener('DOMContentLoaded', () => {
  // No boxes around Chinese punctuation.
  monaco.editor.onDidCreateEditor((editor) =>
    editor.updateOptions({ unicodeHighlight: { ambiguousCharacters: false } }),
  );
  linkHelp();
  onEditors();
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { ...options, ...firstTab() });
});

/** Without the panel of calls the switch has a bar of its own. */
function barOf(label) {
  const bar = element('div', { className: 'calls' });
  bar.append(label);
  return bar;
}

/** The tab to begin with. GraphiQL takes one that it has stored only if query, variables and headers are equal, else it adds a tab. */
function firstTab() {
  const link = new URL(location.href).searchParams;
  const query = link.get('query');
  const variables = link.get('variables') ?? undefined;
  const stored = storedTabs();
  // The editor of variables takes those of the page, not those of the first tab.
  if (!stored) return query && { variables, defaultTabs: [{ query, variables }, ...(options.defaultTabs ?? [])] };
  const { tabs, activeTabIndex } = stored;
  const isLinked = (each) => each.query === query && (variables ?? each.variables ?? '') === (each.variables ?? '');
  const tab = query ? (tabs.find(isLinked) ?? { query, variables }) : tabs[activeTabIndex];
  return tab && { query: tab.query ?? '', variables: tab.variables ?? '', initialHeaders: tab.headers ?? '' };
}

function storedTabs() {
  try {
    return JSON.parse(localStorage.getItem('graphiql:tabState')) ?? undefined;
  } catch {
    return undefined; // a browser that keeps nothing
  }
}
