/** Completes ids with those seen in the responses of this session and an example, and coordinates with those of the schema. */
import { textBefore } from '../editors.js';
import { entriesOf, exampleIn } from './schema-search.js';

const SEEN_MAX = 500;

/** `load` returns the result of an introspection; undefined if there is none. */
export function completeIds(operations, load) {
  /** By id, the last seen last. */
  const seen = new Map();
  operations.onAnswer((_, answer) => {
    for (const found of idsIn([answer?.data, answer?.incremental])) {
      seen.delete(found.id);
      seen.set(found.id, found);
      if (seen.size > SEEN_MAX) seen.delete(seen.keys().next().value);
    }
  });

  const provider = (isIn, wantedAt) => ({
    triggerCharacters: ['"'],
    async provideCompletionItems(model, position) {
      if (!isIn(model)) return { suggestions: [] };
      const wanted = wantedAt(textBefore(model, position));
      if (!wanted) return { suggestions: [] };
      const after = /^[^"\n]*/.exec(model.getLineContent(position.lineNumber).slice(position.column - 1))[0];
      const range = {
        startLineNumber: position.lineNumber,
        startColumn: position.column - wanted.typed.length,
        endLineNumber: position.lineNumber,
        endColumn: position.column + after.length,
      };
      if (wanted.isCoordinate) return { suggestions: await coordinatesFor(range) };
      const schema = await load?.().catch(() => undefined);
      return { suggestions: itemsOf(idsFor(schema, [...seen.values()].reverse(), wanted.type), range) };
    },
  });
  async function coordinatesFor(range) {
    const schema = await load?.().catch(() => undefined);
    return (schema ? entriesOf(schema) : [])
      .filter(({ field, coordinate }) => field || coordinate.startsWith('Mutation.'))
      .map(({ coordinate }) => ({
        label: coordinate,
        kind: monaco.languages.CompletionItemKind.Field,
        insertText: coordinate,
        range,
      }));
  }

  return () => {
    const { languages } = monaco;
    languages.registerCompletionItemProvider(
      'graphql',
      provider(({ uri }) => uri.path.endsWith('operation.graphql'), argumentAt),
    );
    languages.registerCompletionItemProvider(
      'json',
      provider(({ uri }) => uri.path.endsWith('variables.json'), memberAt),
    );
  };
}

/**
 * Of the `seen` ids those of the `wanted` type, and the example in the description of the field of the query that loads one by its id. All
 * seen ids, those of the type first, if no such field is found or it loads any type, as `node` does. `schema`: undefined if there is none.
 */
export function idsFor(schema, seen, wanted) {
  const roots = schema?.__schema.types.find(({ name }) => name === schema.__schema.queryType.name).fields ?? [];
  const root = roots.find(({ name, args }) => wanted.toLowerCase().endsWith(name.toLowerCase()) && idIn(args));
  const isWanted = ({ id }) => id.toLowerCase().startsWith(`${(root?.type.name ?? wanted).toLowerCase()}:`);
  if (!root || root.type.kind === 'INTERFACE')
    return [...seen.filter(isWanted), ...seen.filter((each) => !isWanted(each))];
  const example = exampleIn(idIn(root.args));
  return [...seen.filter(isWanted), ...(example ? [{ id: example, label: 'an example' }] : [])];
}

const idIn = (args) => args.find(({ name }) => name === 'id');

const itemsOf = (ids, range) =>
  ids.map(({ id, label }, at) => ({
    label: { label: id, description: label },
    kind: monaco.languages.CompletionItemKind.Value,
    insertText: id,
    filterText: `${id} ${label}`,
    sortText: String(at).padStart(4, '0'),
    detail: label,
    range,
  }));

/** What is typed of an id in a document, and the type that is wanted: of `bookId:` a book, of `book(id:` too. */
export function argumentAt(before) {
  const [, name, typed] = /(\w+)\s*:\s*(?:\[\s*(?:"[^"\n]*"[\s,]*)*)?"([^"\n]*)$/.exec(before) ?? [];
  if (/^coordinates?$/.test(name)) return { typed, isCoordinate: true };
  if (name === undefined || !/^ids?$|\w(?:Id|Ids)$/.test(name)) return undefined;
  const [, field = ''] = /(\w+)\s*\([^()]*$/.exec(before) ?? [];
  return { typed, type: typeOf(name) || field };
}

/** The same in the variables. */
export function memberAt(before) {
  const [, name, typed] = /"(\w+)"\s*:\s*(?:\[\s*(?:"[^"\n]*"[\s,]*)*)?"([^"\n]*)$/.exec(before) ?? [];
  return name === undefined ? undefined : { typed, type: typeOf(name) || name };
}

const typeOf = (name) => name.replace(/(?:^id|Id)s?$/, '');

/** The global ids of objects, with their titles. */
export function* idsIn(value) {
  if (Array.isArray(value)) for (const each of value) yield* idsIn(each);
  else if (value && typeof value === 'object') {
    const { id, title, name, content } = value;
    if (typeof id === 'string' && id !== '') {
      const label = [title, name, content].find((text) => typeof text === 'string' && text !== '') ?? '';
      yield { id, label: label.slice(0, 60) };
    }
    for (const each of Object.values(value)) yield* idsIn(each);
  }
}
