/**
 * Compares docs/glossary.md with the names of the code, both ways: each term is used in `src`, and each noun that exported
 * types of `engine` and `upstream` are named by, and that several files know, is a term. A doc comment can be read alone.
 *
 *     node scripts/words.mjs
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { sources } from './imports.mjs';

const ROOMS = /^src\/(?:engine|upstream)\//;
/** A noun that fewer files know need not be learned before they are read. */
const KNOWN_BY = 6;
/** Nouns that every engineer knows from TypeScript, HTTP, GraphQL or a cache, in the same sense. */
const COMMON = new Set(
  'builder cache change client code connection context detail document entry field fragment header key limit of operation page part plan policy range reader record request response service setting source state use variable violation'.split(
    ' ',
  ),
);
/** More are not learned before the first change. */
const TERMS_MAX = 40;
/** Beginnings of comments that need the declaration before them. */
const DEPENDENT = /^(?:Of|The same|Same)\b/;

const page = readFileSync(fileURLToPath(new URL('../docs/glossary.md', import.meta.url)), 'utf8');
const terms = [...page.matchAll(/\*\*([^*]+)\*\*/g)].map(([, term]) => term);
const files = [...sources].map(([file, { text }]) => [file, ` ${wordsOf(text).join(' ')} `]);

const problems = [...unusedTerms(), ...missingNouns(), ...dependentComments()];
if (terms.length > TERMS_MAX) problems.push(`docs/glossary.md: ${terms.length} terms, at most ${TERMS_MAX}`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`Terms of the glossary: ${terms.length}, at most ${TERMS_MAX}`);

/** Words in singular and small letters: `UpstreamCalls` is `upstream call`. */
function wordsOf(text) {
  return text
    .replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2 ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) => word.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
}

function unusedTerms() {
  return terms
    .filter((term) => !files.some(([, words]) => words.includes(` ${wordsOf(term).join(' ')} `)))
    .map((term) => `docs/glossary.md: nothing in src is called “${term}”, a term of the glossary`);
}

function missingNouns() {
  const namesOf = new Map();
  for (const [file, source] of sources)
    for (const name of ROOMS.test(file) ? exportedTypes(source) : []) {
      const noun = wordsOf(name).at(-1);
      namesOf.set(noun, [...(namesOf.get(noun) ?? []), name]);
    }
  const known = new Set(terms.flatMap(wordsOf));
  return [...namesOf].flatMap(([noun, names]) => {
    if (known.has(noun) || COMMON.has(noun)) return [];
    const uses = new RegExp(`\\b(?:${names.join('|')})\\b`);
    const count = [...sources.values()].filter(({ text }) => uses.test(text)).length;
    if (count < KNOWN_BY) return [];
    return [`${names.join(', ')}: ${count} files know “${noun}”, which docs/glossary.md lacks`];
  });
}

function exportedTypes({ statements }) {
  return statements
    .filter((each) => ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each) || isClassOfObjects(each))
    .filter(({ modifiers }) => modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .map(({ name }) => name.text);
}

/** Errors are named by what is missing: `TierRequired`. */
function isClassOfObjects(node) {
  const base = node.heritageClauses?.[0]?.types[0]?.expression.text ?? '';
  return ts.isClassDeclaration(node) && !base.endsWith('Error');
}

function dependentComments() {
  return [...sources].flatMap(([file, { text }]) =>
    [...text.matchAll(/\/\*\*\s+(?:\* )?([^\n]*)/g)]
      .filter(([, comment]) => DEPENDENT.test(comment))
      .map(([, comment]) => `${file}: a doc comment that cannot be read alone: ${comment}`),
  );
}
