/** Starts GraphiQL with the settings of the page. */
import { showCalls } from './calls.js';
import { answerIntrospection } from './introspection.js';

const { workers, options, explain, schema } = JSON.parse(document.querySelector('#settings').textContent);

window.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_, label) => workers[label] };
if (schema) answerIntrospection(schema);
const onEditors = explain ? showCalls() : () => undefined;

// The scripts of GraphiQL, which come after this one, have run by then.
document.addEventListener('DOMContentLoaded', () => {
  // No boxes around Chinese punctuation.
  monaco.editor.onDidCreateEditor((editor) =>
    editor.updateOptions({ unicodeHighlight: { ambiguousCharacters: false } }),
  );
  onEditors();
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { ...options, ...firstTab() });
});

/** The tab to begin with. GraphiQL takes one that it has stored only if query, variables and headers are equal, else it adds a tab. */
function firstTab() {
  const link = new URL(location.href).searchParams;
  const query = link.get('query');
  const variables = link.get('variables') ?? undefined;
  const headers = options.defaultHeaders;
  const stored = storedTabs();
  if (!stored) return query && { defaultTabs: [{ query, variables, headers }, ...(options.defaultTabs ?? [])] };
  const { tabs, activeTabIndex } = stored;
  const isLinked = (each) => each.query === query && (variables ?? each.variables ?? '') === (each.variables ?? '');
  const tab = query ? (tabs.find(isLinked) ?? { query, variables, headers }) : tabs[activeTabIndex];
  return tab && { query: tab.query ?? '', variables: tab.variables ?? '', initialHeaders: tab.headers ?? '' };
}

function storedTabs() {
  try {
    return JSON.parse(localStorage.getItem('graphiql:tabState')) ?? undefined;
  } catch {
    return undefined; // a browser that keeps nothing
  }
}
