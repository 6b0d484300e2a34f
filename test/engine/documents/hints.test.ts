import { type DocumentNode, type FieldNode, getOperationAST, parse, print, validate, visit } from 'graphql';
import { expect, test } from 'vitest';
import { runCheck } from '../../../src/check/command.ts';
import { readConfig } from '../../../src/config/read.ts';
import { costTreeOf } from '../../../src/engine/cost/call-cost.ts';
import { type CostNode, type Calls, sumOf } from '../../../src/engine/cost/cost-tree.ts';
import { type Hint, hintText, hintsFor, hintsOf } from '../../../src/engine/documents/hints.ts';
import type { Variables } from '../../../src/engine/plan/document.ts';
import { planOperation } from '../../../src/engine/plan/plan-operation.ts';
import { schema } from '../../../src/graph/schema.ts';
import { generateOperation } from '../../oracle/generate-operations.ts';
import { createRandom } from '../../oracle/random.ts';
import { worldIds } from '../../oracle/world.ts';
import { changedOperation, typeName } from '../../support/changed-operation.ts';
import { journey } from '../../support/journey.ts';
import { thorough } from '../../support/optional.ts';

const { facade } = await journey();
const limits = { maxUpstreamCalls: 250, possibleCallsFactor: 4 };
const anyone = { isLoggedIn: true, filmTier: null };

function planned(document: DocumentNode, variables: Variables = {}) {
  const plan = planOperation(schema, document, getOperationAST(document)!, anyone, variables);
  return { plan, variables };
}
function treeOf(document: DocumentNode, variables?: Variables): CostNode {
  const { plan, variables: given } = planned(document, variables);
  return costTreeOf(plan, given);
}
const sumBelow = (node: CostNode): Calls => sumOf([node, ...node.loads, ...node.children.map(sumBelow)]);
const callsOf = (document: DocumentNode, variables?: Variables) => sumBelow(treeOf(document, variables));
const hintsIn = (text: string) => hintsOf(planned(parse(text)), limits);
/** The response keys that an object is still selected with. */
function keysAt(document: DocumentNode, path: string): string[] {
  const at: string[] = [];
  const keys: string[] = [];
  const enter = (field: FieldNode) => {
    if (at.join('.') === path && field !== typeName) keys.push(field.name.value);
    at.push((field.alias ?? field.name).value);
  };
  visit(document, { Field: { enter, leave: () => void at.pop() } });
  return keys;
}
const textOf = (hint: Hint) => hintText(hint, limits.maxUpstreamCalls);

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

test('of 20 dear queries at least 18 are brought below half of their calls by a hint, whose numbers are true', () => {
  const halved = dear.filter((text) => {
    const { max: most } = callsOf(parse(text));
    expect(validate(schema, parse(text)), text).toEqual([]);
    expect(most, text).toBeGreaterThanOrEqual(15);
    const hints = hintsIn(text);
    for (const hint of hints) {
      const changed = changedOperation(parse(text), hint);
      const told = { likely: hint.likely, max: hint.calls };
      expect(told, `${text}: ${textOf(hint)}: ${print(changed)}`).toEqual(callsOf(changed));
    }
    return hints.some(({ calls }) => calls < most / 2);
  });
  expect(halved.length).toBeGreaterThanOrEqual(18);
});

test('of generated queries no hint promises fewer calls than the changed query can need, and none leaves nothing over', () => {
  const random = createRandom('hints');
  let told = 0;
  for (let at = 0; at < (thorough ? 5_000 : 300); at++) {
    const wanted = { ids: worldIds, isMutation: false, isDivided: random.chance(0.2) };
    const { document: text, variables } = generateOperation(random, wanted);
    const document = parse(text);
    if (validate(schema, document).length > 0) continue;
    let tree: CostNode;
    try {
      tree = treeOf(document, variables);
    } catch {
      continue; // its variables are wrong
    }
    for (const hint of hintsFor(tree, () => true)) {
      told++;
      const changed = changedOperation(document, hint);
      expect(keysAt(changed, hint.path), textOf(hint)).not.toEqual([]);
      expect(hint.calls, textOf(hint)).toBeGreaterThan(0);
      expect(
        callsOf(changed, variables).max,
        `${text}\n${JSON.stringify(variables)}\n${textOf(hint)}`,
      ).toBeLessThanOrEqual(hint.calls);
    }
  }
  expect(told).toBeGreaterThan(20);
});

test('a smaller page is advised before what leaves fields out, by the calls that the limit judges', () => {
  expect(hintsIn(dear[3]!).map(textOf)).toEqual([
    'with first: 20 at user.bookCollections: about 1, at most 21 calls',
    'without book of user.bookCollections.nodes: about 1, at most 1 call',
  ]);
  const refused =
    '{ top250(first: 100) { nodes { title directors { works(first: 5) { nodes { subject { summary } } } } } } }';
  expect(textOf(hintsIn(refused)[0]!)).toBe('with first: 20 at top250: about 141, at most 501 calls; 250 allowed');
});

test('what needs few calls has no hint, and a mutation has none', () => {
  expect(hintsIn('{ book(id: 1) { title tags { name } } }')).toEqual([]);
  expect(hintsIn('mutation { likeNote(input: { id: "1" }) { note { id } } }')).toEqual([]);
});

test('each node of the tree of costs is visited once', () => {
  const below =
    'annotations(first: 100) { nodes { book { annotations(first: 100) { nodes { book { authorIntro } } } } } }';
  const lists = Array.from(
    { length: 20 },
    (_, at) => `a${at}: annotations(first: 100, offset: ${at}) { nodes { book { ${below} } } }`,
  );
  const visits = new Map<string, number>();
  const watched = (node: CostNode): CostNode => ({
    ...node,
    get children() {
      visits.set(node.path, (visits.get(node.path) ?? 0) + 1);
      return node.children.map(watched);
    },
  });
  hintsFor(watched(treeOf(parse(`{ book(id: 1) { ${lists.join(' ')} } }`))), () => false);
  expect(visits.size).toBeGreaterThan(100);
  expect(new Set(visits.values())).toEqual(new Set([1]));
});

test('x-explain: plan has the hints of a dear query for its variables, and check prints them', async () => {
  const query = 'query Top($n: Int) { top250(first: $n) { nodes { title summary } } }';
  const response = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-explain': 'plan' },
    body: JSON.stringify({ query, variables: { n: 60 } }),
  });
  const { extensions } = (await response.json()) as { extensions: { hints: Hint[] } };
  expect(extensions.hints[0]).toEqual({ path: 'top250', first: 20, likely: 21, calls: 21 });
  expect(extensions.hints[1]).toEqual({ path: 'top250.nodes', without: ['summary'], likely: 1, calls: 1 });
  const { output } = await runCheck(['operations/explain.graphql'], { format: 'text' }, schema, readConfig({}));
  expect(output).toMatch(/ {9}cheaper: with first: \d+ at top250: about \d+, at most \d+ calls/);
});
