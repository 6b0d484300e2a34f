import { type DocumentNode, type OperationDefinitionNode, getOperationAST, parse, print, validate } from 'graphql';
import { expect, test } from 'vitest';
import { runCheck } from '../../../src/check/command.ts';
import { readConfig } from '../../../src/config/read.ts';
import { type Hint, hintText, hintsFor } from '../../../src/engine/documents/hints.ts';
import { fragmentsOf, rewriteOperation } from '../../../src/engine/documents/rewrite.ts';
import { schema } from '../../../src/graph/schema.ts';
import { journey } from '../../support/journey.ts';
import { worstWith } from '../../support/worst-with.ts';

const { facade } = await journey();
const worstOf = worstWith({});
const mostOf = (document: DocumentNode) => worstOf(document, getOperationAST(document)!).calls.max;
const hintsOf = (text: string) => hintsFor(schema, parse(text), undefined, worstOf);

/** What a person would do after reading the hint. */
function follow(text: string, { path, first, without = [] }: Hint): DocumentNode {
  const document = parse(text);
  const left = without.map((key) => (path === '' ? key : `${path}.${key}`));
  return rewriteOperation(getOperationAST(document)!, fragmentsOf(document), (at, field) => {
    if (left.includes(at)) return null;
    if (first === undefined || at !== path) return field;
    const { arguments: given = [] } = field;
    const [argument] = (parse(`{ a(first: ${first}) }`).definitions[0] as OperationDefinitionNode).selectionSet
      .selections;
    return {
      ...field,
      arguments: [...given.filter(({ name }) => name.value !== 'first'), ...(argument as typeof field).arguments!],
    };
  })!;
}

const dear = [
  '{ top250(first: 60) { nodes { title summary } } }',
  '{ top250 { nodes { title directors { name works { nodes { subject { title } } } } } } }',
  '{ top250(first: 20) { nodes { casts { name works(first: 4) { nodes { roles } } } } } }',
  '{ user(id: "alice") { bookCollections(first: 100) { nodes { status book { title pages binding } } } } }',
  '{ user(id: "alice") { notes(first: 30) { nodes { title comments { nodes { content } } } } } }',
  '{ book(id: 1) { title annotations(first: 10) { nodes { author { bookCollections(first: 20) { nodes { book { title } } } } } } } }',
  '{ book(id: 1) { annotations(first: 50) { nodes { content author { name avatarUrl } } } } }',
  '{ searchBooks(query: "a", first: 50) { nodes { title series { title books(first: 5) { nodes { title } } } } } }',
  '{ searchBooks(query: "a", first: 20) { nodes { title annotations { nodes { content } } } } }',
  '{ searchSubjects(query: "a", first: 40) { nodes { title summary reviews(first: 5) { nodes { title } } } } }',
  '{ searchSubjects(query: "a", first: 20) { nodes { photos(first: 40) { nodes { imageUrl } } } } }',
  '{ city(id: "beijing") { events(first: 30) { nodes { title participants { nodes { name } } } } } }',
  '{ city(id: "beijing") { events(first: 40) { nodes { title organizer { name } participants { totalCount } interestedPeople { totalCount } } } } }',
  '{ event(id: 1) { participants(first: 50) { nodes { name notes { nodes { title } } } } } }',
  '{ user(id: "alice") { annotations(first: 40) { nodes { book { title series { title } } } } } }',
  '{ celebrity(id: 1) { name works(first: 60) { nodes { subject { title summary } } } } }',
  'query Shelf { user(id: "alice") { ...Shelf } } fragment Shelf on User { bookCollections(first: 60) { nodes { book { ...Book } } } } fragment Book on Book { title translators }',
  '{ user(id: "alice") { reading: bookCollections(status: READING) { nodes { book { title } } } read: bookCollections(status: READ, first: 100) { nodes { book { title } } } } }',
  '{ series(id: 1) { books(first: 50) { nodes { title annotations(first: 1) { totalCount } } } } }',
  '{ usBoxOffice { entries { subject { title summary photos(first: 30) { nodes { id } } reviews(first: 20) { nodes { id } } } } } }',
];

test('of 20 dear queries at least 18 are brought below half of their calls by a hint, whose number is true', () => {
  const halved = dear.filter((text) => {
    const most = mostOf(parse(text));
    expect(validate(schema, parse(text)), text).toEqual([]);
    expect(most, text).toBeGreaterThanOrEqual(15);
    const hints = hintsOf(text);
    for (const hint of hints) {
      const changed = follow(text, hint);
      expect(mostOf(changed), `${text}: ${hintText(hint)}: ${print(changed)}`).toBe(hint.calls);
    }
    return hints.some(({ calls }) => calls < most / 2);
  });
  expect(halved.length).toBeGreaterThanOrEqual(18);
});

test('the first hint leaves out less than those after it', () => {
  expect(hintsOf(dear[3]!).map(hintText)).toEqual([
    expect.stringMatching(/^with first: \d+ at user\.bookCollections, at most \d+ calls$/),
    'without title, pages, binding of user.bookCollections.nodes.book, at most 1 call',
    expect.stringMatching(/^without bookCollections of user/),
  ]);
});

test('what needs few calls has no hint, and a mutation has none', () => {
  expect(hintsOf('{ book(id: 1) { title tags { name } } }')).toEqual([]);
  expect(hintsOf('mutation { likeNote(input: { id: "1" }) { note { id } } }')).toEqual([]);
});

test('of a query with many lists above its dear fields at most 8 lists are tried, so the plans stay few', () => {
  const below =
    'annotations(first: 100) { nodes { book { annotations(first: 100) { nodes { book { authorIntro } } } } } }';
  const lists = Array.from(
    { length: 20 },
    (_, at) => `a${at}: annotations(first: 100, offset: ${at}) { nodes { book { ${below} } } }`,
  );
  let plans = 0;
  const counted: typeof worstOf = (...given) => {
    plans++;
    return worstOf(...given);
  };
  hintsFor(schema, parse(`{ book(id: 1) { ${lists.join(' ')} } }`), undefined, counted);
  expect(plans).toBeLessThanOrEqual(1 + 8 * 4 + 8);
});

test('x-explain: plan has the hints of a dear query for its variables, and check prints them', async () => {
  const query = 'query Top($n: Int) { top250(first: $n) { nodes { title summary } } }';
  const response = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-explain': 'plan' },
    body: JSON.stringify({ query, variables: { n: 60 } }),
  });
  const { extensions } = (await response.json()) as { extensions: { hints: Hint[] } };
  expect(extensions.hints[0]).toEqual({ path: 'top250', first: 20, calls: 21 });
  expect(extensions.hints[1]).toEqual({ path: 'top250.nodes', without: ['summary'], calls: 1 });
  const { output } = runCheck(['operations/explain.graphql'], { format: 'text' }, schema, readConfig({}));
  expect(output).toMatch(/ {9}cheaper: with first: \d+ at top250, at most \d+ calls\n/);
});
