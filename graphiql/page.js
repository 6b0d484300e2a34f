/** Starts GraphiQL with the settings of the page, and the dock below it. */
import { boundAddress } from './address.js';
import { createCalls } from './dock/calls.js';
import { createCurlButton } from './dock/curl.js';
import { createDock } from './dock/dock.js';
import { createHistory } from './dock/history.js';
import { completeIds } from './dock/ids.js';
import { createPeopleCompared } from './dock/people-compared.js';
import { createPrice } from './dock/price.js';
import { completeRootWords } from './dock/root-words.js';
import { createSearch } from './dock/search.js';
import { createStarters } from './dock/starters.js';
import { addExamples } from './examples.js';
import { showTopOfExplorer } from './explorer.js';
import { linkHelp } from './help-links.js';
import { answerIntrospection } from './introspection.js';
import { watchOperations } from './operations.js';
import { createPersonSwitch } from './people.js';
import { ensureStorage } from './storage.js';
import { repairTabs } from './tabs.js';

const { workers, options, examples, explain, people, schema } = JSON.parse(
  document.querySelector('#settings').textContent,
);

ensureStorage();
boundAddress();
window.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_, label) => workers[label] };
if (schema) answerIntrospection(schema);
const person = people && createPersonSwitch(people);
const operations = watchOperations(explain);
const starters = createStarters();
const answering = [...(explain ? ['Price'] : []), ...(people ? ['People'] : [])];
const search = schema && createSearch(loadSchema, answering, (name) => dock.show(name));
const dock = createDock(
  [
    ...(explain ? [createCalls(operations), createPrice(operations, person)] : []),
    ...(search ? [search] : []),
    ...(people ? [createPeopleCompared(person, people)] : []),
    createHistory(operations),
  ],
  [...(person ? [person.label] : []), createCurlButton()],
  starters.row,
);
const watchIds = completeIds(operations, schema && loadSchema);
const watchRootWords = schema && completeRootWords(loadSchema);

/** The file of the introspection, which the browser has loaded for GraphiQL. */
async function loadSchema() {
  return (await (await fetch(schema)).json()).data;
}

const isPhone = matchMedia('(max-width: 700px)').matches;

// The scripts of GraphiQL, which come after this one, have run by then.
document.addEventListener('DOMContentLoaded', () => {
  // No boxes around Chinese punctuation.
  monaco.editor.onDidCreateEditor((editor) =>
    editor.updateOptions({
      unicodeHighlight: { ambiguousCharacters: false },
      ...(isPhone && { fontSize: 12, lineNumbersMinChars: 2 }),
    }),
  );
  linkHelp();
  repairTabs();
  if (examples.length > 0) addExamples(examples);
  dock.watch();
  starters.watch();
  watchIds();
  watchRootWords?.();
  showTopOfExplorer();
  // On a telephone the document has the place of variables and headers until they are opened.
  const closed = isPhone && { defaultEditorToolsVisibility: false };
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { ...options, ...closed, ...firstTab() });
});

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
    return undefined; // nothing, or not what GraphiQL stores
  }
}
