/** What is written in the editors of the open tab. */
import { withPerson } from './people.js';

/** The model of an editor: `operation.graphql`, `variables.json` or `request-headers.json`; undefined before it is made. */
export const modelOf = (name) => monaco.editor.getModels().find(({ uri }) => uri.path.endsWith(name));

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
function operationIn(query) {
  const model = modelOf('operation.graphql');
  const editor = monaco.editor.getEditors().find((each) => each.getModel() === model);
  const position = editor?.getPosition();
  const cursor = position ? model.getOffsetAt(position) : 0;
  const names = [...query.matchAll(/^\s*(?:query|mutation)\s+(\w+)/gm)];
  return (names.findLast(({ index }) => index <= cursor) ?? names[0])?.[1];
}

/** The element of the open tab. It lives as long as the tab. */
export const openTab = () => document.querySelector('.graphiql-tab-active');
