/** Completes fields of the query by everyday words: for `films` the editor offers `subject` and `top250`. */
import { textBefore } from '../editors.js';
import { everydayWords } from './everyday-words.js';
import { entriesOf, searchEntries } from './schema-search.js';

const OFFERED = 6;

/** `load` returns the result of an introspection. The function is to be called when there are editors. */
export function completeRootWords(load) {
  const provider = {
    async provideCompletionItems(model, position) {
      const isDocument = model.uri.path.endsWith('operation.graphql');
      const word = isDocument ? rootWordAt(textBefore(model, position)) : undefined;
      const schema = word && (await load().catch(() => undefined));
      // With more letters the editor asks again.
      if (!schema) return { suggestions: [], incomplete: isDocument };
      const { lineNumber, column } = position;
      const range = {
        startLineNumber: lineNumber,
        startColumn: column - word.length,
        endLineNumber: lineNumber,
        endColumn: column,
      };
      const suggestions = rootsFor(schema, word).map(({ name, description }, at) => ({
        label: { label: name, description: `“${word}”` },
        kind: monaco.languages.CompletionItemKind.Field,
        insertText: name,
        filterText: word, // the editor would look for the word in the name
        sortText: `~${at}`,
        detail: description,
        range,
      }));
      return { suggestions, incomplete: true };
    },
  };
  return () => monaco.languages.registerCompletionItemProvider('graphql', provider);
}

/** The word that `before`, the text up to the cursor, ends with; undefined if it is no field of the query or has less than three letters. */
export function rootWordAt(before) {
  const code = before.replaceAll(/"(?:[^"\\\n]|\\.)*"|#.*/g, '');
  const word = /(?<![\w$@])[a-z]\w{2,}$/i.exec(code)?.[0];
  if (!word) return undefined;
  let depth = 0;
  let head = '';
  for (const character of code) {
    if (/[{(]/.test(character)) depth++;
    else if (/[})]/.test(character)) depth--;
    else if (depth === 0) head += character;
    if (depth === 0 && character === '}') head = '';
  }
  return depth === 1 && /^\s*(?:query\b|$)/.test(head) && code.lastIndexOf('(') <= code.lastIndexOf(')')
    ? word
    : undefined;
}

/** Fields of the query that the word, or an everyday word that begins with it, means. The editor finds those with its letters itself. */
export function rootsFor(schema, word) {
  const lower = word.toLowerCase();
  const roots = entriesOf(schema).filter(({ coordinate }) =>
    coordinate.startsWith(`${schema.__schema.queryType.name}.`),
  );
  const words = [lower, ...Object.keys(everydayWords).filter((each) => each.startsWith(lower))];
  const letters = new RegExp([...lower].join('.*'));
  const found = words.flatMap((each) => searchEntries(roots, each).found);
  return [...new Set(found)].filter(({ name }) => !letters.test(name.toLowerCase())).slice(0, OFFERED);
}
