/** What is written in the editors of the open tab. */
import { withPerson } from './people.js';

/** The model of an editor: `operation.graphql`, `variables.json` or `request-headers.json`; undefined before it is made. */
export const modelOf = (name) => monaco.editor.getModels().find(({ uri }) => uri.path.endsWith(name));

/** The text of an editor before a position. */
export const textBefore = (model, { lineNumber, column }) =>
  model.getValueInRange({ startLineNumber: 1, startColumn: 1, endLineNumber: lineNumber, endColumn: column });

/** The request that a click on run would send; undefined if an editor has no valid text. */
export function requestInEditors() {
  const query = modelOf('operation.graphql')?.getValue() ?? '';
  if (!query.trim()) return undefined;
  try {
    const headers = withPerson({ 'content-type': 'application/json', ...jsonIn('request-headers.json') });
    const variables = jsonIn('variables.json');
    const operationName = operationIn(query);
    return { headers, body: JSON.stringify({ query, ...(variables && { variables }), operationName }) };
  } catch {
    return undefined;
  }
}

/** Comments and commas at the end are allowed, as GraphiQL allows them. */
function jsonIn(name) {
  const text = modelOf(name)?.getValue() ?? '';
  const plain = text
    .replaceAll(/("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[^]*?\*\//g, '$1')
    .replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, '$1')
    .trim();
  return plain ? JSON.parse(plain) : undefined;
}

/** Why the request of the open tab cannot be sent; undefined if its texts are valid. */
export function problemInEditors() {
  for (const [name, what] of [
    ['request-headers.json', 'headers'],
    ['variables.json', 'variables'],
  ]) {
    try {
      jsonIn(name);
    } catch {
      return `Nothing was sent: the ${what} are not valid JSON.`;
    }
  }
  return undefined;
}

/** The operation at the cursor, or the first one. */
export function operationIn(query) {
  const editor = editorOf('operation.graphql');
  const position = editor?.getPosition();
  const cursor = position ? editor.getModel().getOffsetAt(position) : 0;
  const names = [...query.matchAll(/^\s*(?:query|mutation)\s+(\w+)/gm)];
  return (names.findLast(({ index }) => index <= cursor) ?? names[0])?.[1];
}

/** The element of the open tab. It lives as long as the tab. */
export const openTab = () => document.querySelector('.graphiql-tab-active');

/** Calls the listener after each change of tab: GraphiQL has no event for it. */
export function watchTabs(listener) {
  new MutationObserver(listener).observe(document.querySelector('#root'), {
    subtree: true,
    childList: true,
    attributeFilter: ['aria-selected'],
  });
}

/** Calls the listener a pause after each change of the document, variables or headers, and when there are editors. */
export function watchEditors(listener, pauseMs) {
  let timer;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(listener, pauseMs);
  };
  const isWatched = ({ uri }) => /(?:operation\.graphql|variables\.json|request-headers\.json)$/.test(uri.path);
  monaco.editor.onDidCreateModel((model) => {
    if (!isWatched(model)) return;
    model.onDidChangeContent(later);
    later();
  });
  if (modelOf('operation.graphql')) later();
}

/** Replaces the text of an editor; its undo brings the old one back. */
export function replaceText(name, text) {
  const model = modelOf(name);
  if (!model || model.getValue() === text) return;
  model.pushStackElement();
  model.pushEditOperations([], [{ range: model.getFullModelRange(), text }], () => null);
  model.pushStackElement();
}

/** Shows a document in the open tab if that is blank, else in a new one. */
export function openDocument(query, variables = '', headers = '') {
  // GraphiQL empties the editors before the click returns.
  if ((modelOf('operation.graphql')?.getValue() ?? '').trim() !== '')
    document.querySelector('.graphiql-tab-add').click();
  replaceText('operation.graphql', query);
  replaceText('variables.json', variables);
  replaceText('request-headers.json', headers);
  editorOf('operation.graphql')?.focus();
}

export function editorOf(name) {
  const model = modelOf(name);
  return monaco.editor.getEditors().find((each) => each.getModel() === model);
}
