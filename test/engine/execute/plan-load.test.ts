import { type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { SelectionPlan } from '../../../src/engine/plan/operation-plan.ts';
import { type Existence, childCallsOf, planLoad } from '../../../src/engine/execute/plan-load.ts';
import { type PlanViewer, planOperation } from '../../../src/engine/plan/plan-operation.ts';
import { schema } from '../../../src/graph/schema.ts';

/** The selection of the first field of a query. */
function selectionOf(query: string, viewer: PlanViewer): SelectionPlan {
  const document = parse(query);
  const operation = document.definitions[0] as OperationDefinitionNode;
  return planOperation(schema, document, operation, viewer, {}).root.fields[0]!.onlySelection!;
}

const book = (selection: string) => `{ book(id: 7) { ${selection} } }`;
const celebrity = (selection: string) => `{ celebrity(id: 7) { ${selection} } }`;

interface Row {
  of: string;
  record?: object;
  existence?: Existence;
  filmTier?: PlanViewer['filmTier'];
  request?: string[];
  providers?: string[];
  isShownByChildren?: boolean;
  startsChildren?: boolean;
  refused?: string[];
  keeps?: string;
  later?: string[];
}

test.each<[string, Row]>([
  ['what is selected of a record that the client named', { of: book('id title'), request: ['id', 'title'] }],
  ['the id, if nothing else can be requested', { of: book('__typename'), request: ['id'] }],
  [
    'the id not, if upstream named the record',
    { of: book('id title'), existence: 'referred', record: {}, request: ['title'] },
  ],
  [
    'what the initial result needs; the rest later',
    { of: book('title ... @defer { pages }'), request: ['title'], later: ['pages'] },
  ],
  [
    'deferred names at once, if they alone show whether the record exists',
    { of: book('... @defer { pages }'), request: ['pages'] },
  ],
  [
    'nothing yet, if a record that exists has all names of the initial result',
    {
      of: book('title ... @defer { pages annotations { nodes { id } } }'),
      existence: 'shown',
      record: { id: '7', title: '活着' },
      startsChildren: false,
      keeps: 'always',
      later: ['pages'],
    },
  ],
  [
    'nothing, if its lists show whether the record exists',
    { of: book('annotations { nodes { id } }'), isShownByChildren: true },
  ],
  [
    'nothing for its id, if its lists show that',
    { of: book('id annotations { nodes { id } }'), isShownByChildren: true },
  ],
  ['its id, if none of its calls shows that', { of: book('id collection(userId: "1") { id }'), request: ['id'] }],
  [
    'nothing but the names that a child call provides, if that lacks them',
    {
      of: celebrity('name works(first: 9) { nodes { roles } }'),
      request: ['id', 'name'],
      providers: ['works'],
      keeps: 'ifRejected',
    },
  ],
  [
    'names of which a child call provides some',
    {
      of: celebrity('name gender works(first: 9) { nodes { roles } }'),
      request: ['gender', 'id', 'name'],
      keeps: 'ifRejected',
    },
  ],
  [
    'what a record that upstream listed lacks; it stays if the load fails',
    {
      of: celebrity('name gender'),
      existence: 'shown',
      record: { id: '7', name: '吴京' },
      request: ['gender'],
      keeps: 'always',
    },
  ],
  [
    'what a record has that upstream named; it stays only if the tier may not load it',
    { of: celebrity('name'), existence: 'referred', request: ['name'], keeps: 'ifRejected' },
  ],
  [
    'no names that the configured tier does not get',
    {
      of: '{ subject(id: 7) { title websiteUrl } }',
      filmTier: 'basic',
      request: ['title'],
      refused: ['website'],
    },
  ],
])('%s', (_, { of, record = { id: '7' }, existence = 'named', filmTier = null, providers = [], ...expected }) => {
  const selection = selectionOf(of, { isLoggedIn: false, filmTier });
  const children = childCallsOf(record as never, selection, {});
  const missing = selection.members.filter((name) => existence === 'named' || !(name in record));
  const names = missing.length > 0 ? missing : ['id'];
  const plan = planLoad(selection, names, existence, record as never, children);
  expect({ ...plan, providers: plan.providers.map((each) => each.plan.field.name) }).toEqual({
    request: [],
    providers,
    isShownByChildren: false,
    startsChildren: true,
    refused: [],
    keeps: 'never',
    later: [],
    ...expected,
  });
});
