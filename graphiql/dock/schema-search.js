/** A search in names and descriptions of the schema, by everyday words too. */
import { everydayWords, fillers } from './everyday-words.js';

const ROOTS = ['queryType', 'mutationType'];
/** Types that others consist of: they come after what can be tried. */
const isPart = (name) => /(?:Edge|Connection|Payload|Input|Limits|ErrorCode)$/.test(name);

/** What can be found, from the result of an introspection. */
export function entriesOf({ __schema: schema }) {
  const rootNames = ROOTS.map((root) => schema[root]?.name);
  return schema.types
    .filter(({ name, kind }) => !name.startsWith('__') && kind !== 'SCALAR')
    .flatMap((type) => {
      const isRoot = rootNames.includes(type.name);
      const members = [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])];
      const penalty = isPart(type.name) ? 30 : 0;
      const own = { coordinate: type.name, name: type.name, description: type.description ?? '', boost: 8 - penalty };
      return [
        ...(isRoot ? [] : [own]),
        ...members.map((member) => ({
          coordinate: `${type.name}.${member.name}`,
          name: member.name,
          description: member.description ?? '',
          type: member.type && textOf(member.type),
          arguments: (member.args ?? []).map(({ name }) => name),
          field: type.kind === 'OBJECT' && type.name !== rootNames[1] ? member : undefined,
          boost: type.name === rootNames[0] ? 60 : isRoot ? 12 : -penalty,
        })),
      ];
    });
}

/** The words of a text, without fillers and single digits; with them if there are no others. */
export function wordsOf(text) {
  const all = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const words = all.filter((word) => !fillers.has(word) && !/^\d$/.test(word));
  return words.length > 0 ? words : all;
}

/**
 * The entries that have all words of the text, the best first; if there are none, those that have the most of them, and `isPartial`. `missed`
 * are the words that none of these has.
 */
export function searchEntries(entries, text) {
  const words = wordsOf(text);
  const meanings = words.map(meaningsOf);
  const rated = entries
    .map((entry) => ({ entry, scores: meanings.map((each) => scoreOf(entry, each)) }))
    .filter(({ scores }) => hitsIn(scores) > 0);
  const most = Math.max(0, ...rated.map(({ scores }) => hitsIn(scores)));
  const found = rated.filter(({ scores }) => hitsIn(scores) === most);
  const rankOf = ({ entry, scores }) => scores.reduce((sum, score) => sum + score, entry.boost);
  found.sort((a, b) => rankOf(b) - rankOf(a) || a.entry.coordinate.length - b.entry.coordinate.length);
  const missed = words.filter((_, at) => found.every(({ scores }) => scores[at] === 0));
  return { found: found.map(({ entry }) => entry), missed, isPartial: most < words.length };
}

const hitsIn = (scores) => scores.filter((score) => score > 0).length;

/** Whether two words are the same but for a plural. */
export const isSameWord = (a, b) => singular(a) === singular(b);
const singular = (word) => (word.length > 3 ? word.replace(/s$/, '') : word);

/** A word and those of the schema that mean the same, which count a little less. */
function meaningsOf(word) {
  const others = everydayWords[word] ?? everydayWords[singular(word)] ?? [];
  return [word, ...others].map((each, at) => {
    const text = each.toLowerCase();
    return { text, pattern: new RegExp(`\\b${text}`, 'u'), weight: at === 0 ? 1 : 0.9 };
  });
}

const scoreOf = (entry, meanings) => Math.max(...meanings.map((each) => matchOf(entry, each) * each.weight));

function matchOf({ name, description }, { text: word, pattern }) {
  const lower = name.toLowerCase();
  if (lower === word || lower === `${word}s`) return 100;
  if (lower.startsWith(word)) return 55;
  if (wordStarts(name).some((at) => lower.startsWith(word, at))) return 45;
  const at = description.toLowerCase().search(pattern);
  return at < 0 ? 0 : at < 40 ? 35 : 12;
}

/** Where the words of a name begin: `mainlandReleaseDate` has three. */
const wordStarts = (name) => [...name.matchAll(/[A-Z]?[a-z]+|[A-Z]+|\d+/g)].map(({ index }) => index);

export const textOf = ({ kind, name, ofType }) =>
  kind === 'NON_NULL' ? `${textOf(ofType)}!` : kind === 'LIST' ? `[${textOf(ofType)}]` : name;

/**
 * A document that tries a field of the query, or of an object that the query has by an id. Undefined if an argument that it needs has no
 * example in its description.
 */
export function documentFor({ __schema: { types, queryType } }, { coordinate, field }) {
  const [typeName] = coordinate.split('.');
  const lines = fieldLines(types, field);
  if (!lines || typeName === queryType.name) return lines && documentOf(lines);
  const roots = types.find(({ name }) => name === queryType.name).fields;
  for (const root of roots) {
    const call = root.type.name === typeName && root.args.some(isNeeded) && callOf(root);
    if (call) return documentOf([`${call} {`, ...indented(lines), '}']);
  }
  return undefined;
}

/** For each field of the query that searches the data: its name, and a document that searches for these words. */
export function searchesFor({ __schema: { types, queryType } }, words) {
  const roots = types.find(({ name }) => name === queryType.name).fields;
  return roots
    .filter(({ args }) => args.some(({ name }) => name === 'query'))
    .map((root) => ({ name: root.name, text: documentOf(fieldLines(types, root, words)) }));
}

const indented = (lines) => lines.map((line) => `  ${line}`);
const documentOf = (lines) => `{\n${indented(lines).join('\n')}\n}\n`;
const isNeeded = ({ type, defaultValue }) => type.kind === 'NON_NULL' && defaultValue === null;

/** The field with its arguments, and a few fields below it. */
function fieldLines(types, field, words) {
  const call = callOf(field, words);
  const below = call && selectionOf(types, field.type, 0);
  if (!below) return undefined;
  return below.length > 0 ? [`${call} {`, ...indented(below), '}'] : [call];
}

/** The first example in the description of an argument. */
export const exampleIn = ({ description }) => /`([^`<>]+)`/.exec(description ?? '')?.[1];

function callOf({ name, args }, words = 'a') {
  const needed = args.filter(isNeeded);
  const given = needed.map((each) => {
    const example = exampleIn(each);
    return example && `${each.name}: ${each.type.ofType.kind === 'LIST' ? `["${example}"]` : `"${example}"`}`;
  });
  if (given.includes(undefined)) return undefined;
  if (args.some((each) => each.name === 'query') && needed.length === 0) given.push(`query: ${JSON.stringify(words)}`);
  if (args.some((each) => each.name === 'first')) given.push('first: 5');
  return given.length > 0 ? `${name}(${given.join(', ')})` : name;
}

/** What lists and charts have their items in. */
const INNER = ['nodes', 'entries', 'subject'];
const SHOWN = ['title', 'name', 'id', 'year', 'startsAt', 'content', 'isLoggedIn', 'rank'];

/** A few fields of a type that need no argument, as lines; none of a type without fields. */
function selectionOf(types, type, depth) {
  let named = type;
  while (named.ofType) named = named.ofType;
  const { kind, fields } = types.find(({ name }) => name === named.name);
  if (kind === 'UNION' || kind === 'INTERFACE') return ['__typename'];
  if (!fields) return [];
  const inner = fields.find(({ name }) => INNER.includes(name));
  // A film beside a title is another record.
  const isOther = inner?.name === 'subject' && fields.some(({ name }) => name === 'title');
  if (inner && !isOther && depth < INNER.length)
    return [`${inner.name} {`, ...selectionOf(types, inner.type, depth + 1).map((line) => `  ${line}`), '}'];
  const shown = SHOWN.filter((name) => fields.some((each) => each.name === name));
  return shown.length > 0 ? shown.slice(0, 3) : ['__typename'];
}
