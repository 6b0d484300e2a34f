/** Generates operations of every form that the schema allows, with ids of the service that they run over. */
import {
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { listIdOf } from '../../src/engine/values/paging.ts';
import { type Random, hashOf } from './random.ts';
import { type PathStep, along, pathsTo } from './paths.ts';
import { referenceSchema as schema } from './reference.ts';
import type { Ids } from './world.ts';

export interface Operation_ {
  document: string;
  variables: Record<string, unknown>;
}

export interface Wanted {
  ids: Ids;
  /** Generate a mutation. */
  isMutation: boolean;
  /** Use incremental delivery. */
  isDivided: boolean;
}

/** The operation under construction. */
interface Draft {
  random: Random;
  ids: Ids;
  isDivided: boolean;
  variables: Record<string, unknown>;
  definitions: string[];
  fragments: string[];
  /** How many more fields with selections may be added; at 0 only leaves are selected. */
  left: number;
  labels: number;
  /** The record that the fields are of, where its id is known. */
  above: { type: string; id: string } | undefined;
}

export function generateOperation(random: Random, { ids, isMutation, isDivided }: Wanted): Operation_ {
  const draft: Draft = {
    random,
    ids,
    isDivided,
    variables: {},
    definitions: [],
    fragments: [],
    left: random.weighted([
      [5, 4],
      [3, 8],
      [1, 14],
    ]),
    labels: 0,
    above: undefined,
  };
  const selection = isMutation ? mutations(draft) : roots(draft);
  const head = draft.definitions.length ? ` Q(${draft.definitions.join(', ')})` : ' Q';
  return {
    document: [`${isMutation ? 'mutation' : 'query'}${head} {${selection}}`, ...draft.fragments].join('\n'),
    variables: draft.variables,
  };
}

/** The objects of one type by several paths, in one operation or in one each: some of their fields in all, and others. `ofAbsent`: by ids of nothing. */
export function generatePaths(random: Random, given: Ids, ofAbsent = false): Operation_[] {
  const ids = ofAbsent ? absentOf(given) : fewOf(random, given);
  // A person is found in responses of all kinds.
  const [name, all] = random.weighted(
    [...pathsByType()].map((each): [number, typeof each] => [each[0] === 'User' ? 4 : 1, each]),
  );
  const byId = all.filter((path) => path.length === 1 && absentKinds.has(path[0]!.field.name));
  const paths = ofAbsent && byId.length > 0 ? byId : all;
  const type = schema.getType(name) as GraphQLObjectType;
  const draft = (): Draft => ({
    ...{ random, ids, isDivided: false, variables: {}, definitions: [], fragments: [], left: 2, labels: 0 },
    above: undefined,
  });
  const leaves = Object.values(type.getFields()).filter((each) => isLeafType(getNamedType(each.type)));
  const inAll = random.some(leaves, random.int(1, 6)).map((each) => each.name);
  const isOne = random.chance(0.5);
  const shared = draft();
  const parts = Array.from({ length: random.int(2, 4) }, (_, at) => {
    const own = isOne ? shared : draft();
    const inner = [...inAll, fieldsOf(own, type, 1, '')].join(' ');
    const text = along(random.pick(paths), inner, (step) => argumentsOnPath(own, step), `p${at}: `);
    return { text, own };
  });
  const operation = (text: string, { definitions, fragments, variables }: Draft): Operation_ => ({
    document: [`query Q${definitions.length ? `(${definitions.join(', ')})` : ''} {${text}}`, ...fragments].join('\n'),
    variables,
  });
  return isOne
    ? [operation(parts.map(({ text }) => text).join(' '), shared)]
    : parts.map(({ text, own }) => operation(text, own));
}

/** Arguments that lead on: `node` with an id of the type, and the first items of lists. */
function argumentsOnPath(draft: Draft, { parent, field, type }: PathStep): string {
  const { random, ids } = draft;
  const of = ids[type.name.toLowerCase() as keyof typeof ids];
  if (parent.name === 'Query' && /^nodes?$/.test(field.name) && Array.isArray(of)) {
    const id = `"${type.name}:${random.pick(of as string[])}"`;
    return field.name === 'node' ? `(id: ${id})` : `(ids: [${id}])`;
  }
  if (!field.args.some(({ name }) => name === 'first')) return argumentsFor(draft, parent, field);
  const first = random.pick(['', 'first: 3', 'first: 10']);
  const others = field.args.flatMap((arg) => {
    const value = ['query', 'tag', 'userId'].includes(arg.name) ? valueFor(draft, parent, field, arg) : undefined;
    return value === undefined || value === null ? [] : [`${arg.name}: ${literal(value, String(arg.type))}`];
  });
  const all = [first, ...others].filter(Boolean);
  return all.length > 0 ? `(${all.join(', ')})` : '';
}

/** Two ids of each kind, so that the paths lead to the same objects. */
const fewOf = (random: Random, ids: Ids): Ids =>
  Object.fromEntries(
    Object.entries(ids).map(([kind, all]) => [kind, Array.isArray(all) ? random.some(all as string[], 2) : all]),
  ) as unknown as Ids;

/** What `world.ts` and the origin do not have. */
const absentOf = (ids: Ids): Ids => ({
  ...ids,
  user: ['nobody-there'],
  ...Object.fromEntries(absentIn.map((kind) => [kind, [ids[kind].at(-1)!]])),
});
const absentIn = ['book', 'subject', 'celebrity', 'series', 'annotation', 'note', 'event', 'city'] as const;
const absentKinds: ReadonlySet<string> = new Set([...absentIn, 'user', 'node', 'nodes']);

let paths: ReturnType<typeof pathsTo> | undefined;
const pathsByType = () => (paths ??= pathsTo(schema, 2));

const rootNames: readonly (readonly [number, string])[] = [
  [10, 'book'],
  [3, 'bookByIsbn'],
  [4, 'searchBooks'],
  [8, 'subject'],
  [4, 'searchSubjects'],
  [4, 'celebrity'],
  [3, 'annotation'],
  [4, 'note'],
  [6, 'event'],
  [3, 'searchEvents'],
  [2, 'series'],
  [6, 'user'],
  [3, 'city'],
  [6, 'node'],
  [4, 'nodes'],
  [2, 'top250'],
  [1, 'usBoxOffice'],
  [1, 'weeklyChart'],
  [1, 'newMovies'],
  [1, 'inTheaters'],
  [1, 'comingSoon'],
  [1, 'viewer'],
];

function roots(draft: Draft): string {
  const { random } = draft;
  const query = schema.getQueryType()!;
  const many = random.weighted([
    [6, 1],
    [3, 2],
    [1, 3],
  ]);
  const one = () => field(draft, query, query.getFields()[random.weighted(rootNames)]!, random.int(2, 4), '');
  if (!random.chance(0.06)) return Array.from({ length: many }, one).join(' ');
  const others = Array.from({ length: random.int(0, many) }, one);
  return others.toSpliced(random.int(0, others.length), 0, introspection(draft, query)).join(' ');
}

/** `__schema` or `__type`. Three lists inside each other are not valid. */
function introspection(draft: Draft, query: GraphQLObjectType): string {
  const { random } = draft;
  const text = random.chance(0.3)
    ? field(draft, query, SchemaMetaFieldDef, random.int(1, 2), '')
    : field(draft, query, TypeMetaFieldDef, random.chance(0.9) ? random.int(1, 2) : 3, '');
  return wrapped(draft, query, text);
}

const writes: readonly (readonly [number, string])[] = [
  [6, 'collectBook'],
  [4, 'replaceCollection'],
  [4, 'deleteCollection'],
  [2, 'createAnnotation'],
  [1, 'deleteAnnotation'],
  [1, 'createReview'],
  [3, 'joinEvent'],
  [2, 'leaveEvent'],
  [2, 'addEventInterest'],
  [1, 'removeEventInterest'],
  [2, 'likeNote'],
  [1, 'unlikeNote'],
  [2, 'createNoteComment'],
  [1, 'deleteNoteComment'],
];

function mutations(draft: Draft): string {
  const { random } = draft;
  const type = schema.getMutationType()!;
  const many = random.weighted([
    [6, 1],
    [3, 2],
    [1, 3],
  ]);
  return Array.from({ length: many }, (_, at) =>
    field(draft, type, type.getFields()[random.weighted(writes)]!, random.int(2, 3), `w${at}_`),
  ).join(' ');
}

/** One field with its selection. Its alias is derived from the arguments, so that equal response keys never conflict. */
function field(
  draft: Draft,
  parent: GraphQLObjectType,
  of: GraphQLField<unknown, unknown>,
  depth: number,
  prefix: string,
): string {
  const { random } = draft;
  const args = argumentsFor(draft, parent, of);
  const named = getNamedType(of.type);
  let key = args ? `${of.name}_${hashOf(args).toString(36)}` : of.name;
  if (random.chance(0.1)) key = `${random.pick(['a', 'b'])}_${key}`;
  key = prefix + key;
  let directives = '';
  if (random.chance(0.04)) directives += ` @${random.pick(['include', 'skip'])}(if: ${flag(draft)})`;
  if (draft.isDivided && isListType(getNullableType(of.type)) && !isLeafType(named) && random.chance(0.25)) {
    key = `s${draft.labels++}_${key}`;
    directives += ` @stream(initialCount: ${random.int(0, 2)})`;
  }
  const head = `${key === of.name ? '' : `${key}: `}${of.name}${args}${directives}`;
  if (isLeafType(named)) return head;
  const before = draft.above;
  const id = parent.name === 'Query' ? /^\(id: "(?:[A-Z]\w+:)?(\w+)"\)$/.exec(args)?.[1] : undefined;
  draft.above = id === undefined ? undefined : { type: named.name, id };
  const selection = selectionOf(draft, of.type, depth);
  draft.above = before;
  return `${head} {${selection}}`;
}

function flag(draft: Draft): string {
  const { random } = draft;
  const value = random.chance(0.5);
  return random.chance(0.5) ? String(value) : variable(draft, 'Boolean!', value);
}

function variable(draft: Draft, type: string, value: unknown): string {
  const name = `v${draft.definitions.length}`;
  draft.definitions.push(`$${name}: ${type}`);
  draft.variables[name] = value;
  return `$${name}`;
}

function selectionOf(draft: Draft, returnType: GraphQLOutputType, depth: number): string {
  const { random } = draft;
  const named = getNamedType(returnType);
  if (isAbstractType(named)) {
    const types = random.some(schema.getPossibleTypes(named), random.int(1, 4));
    const own = named.name === 'Node' && random.chance(0.6) ? ['id'] : [];
    const parts = types.map((type) => `... on ${type.name} {${fieldsOf(draft, type, depth, `${type.name}_`)}}`);
    return ['__typename', ...own, ...parts].join(' ');
  }
  if (!isObjectType(named)) return '__typename';
  return fieldsOf(draft, named, depth, '');
}

const connectionFields: readonly (readonly [number, string])[] = [
  [8, 'nodes'],
  [3, 'edges'],
  [3, 'pageInfo'],
  [2, 'totalCount'],
  [1, 'title'],
];
/** Fields whose values change between two runs, or depend on the time and on a former call. */
const unsteady = new Set([
  'User.shelfChanges',
  'User.annotationChanges',
  'User.noteChanges',
  'Collection.isPrivate',
  'Viewer.rateBudget',
  'Viewer.filmTier',
  'Viewer.canUse',
  'SubjectConnection.totalIsCapped',
]);

function fieldsOf(draft: Draft, type: GraphQLObjectType, depth: number, prefix: string): string {
  const { random } = draft;
  const all = Object.values(type.getFields()).filter(({ name }) => !unsteady.has(`${type.name}.${name}`));
  const isConnection = type.name.endsWith('Connection');
  const isWrapper = isConnection || type.name.endsWith('Edge');
  const leaves = all.filter((each) => isLeafType(getNamedType(each.type)));
  const objects = all.filter((each) => !isLeafType(getNamedType(each.type)));
  const chosen: GraphQLField<unknown, unknown>[] = [];
  if (isConnection) {
    const many = random.int(1, 3);
    for (let at = 0; at < many; at++) {
      const found = type.getFields()[random.weighted(connectionFields)];
      if (found && !chosen.includes(found)) chosen.push(found);
    }
  } else {
    if (leaves.length)
      chosen.push(
        ...random.some(
          leaves,
          random.weighted([
            [5, 1],
            [4, 2],
            [2, 4],
            [1, 9],
            [1, 0],
          ]),
        ),
      );
    const many =
      depth > 0 && draft.left > 0
        ? random.weighted([
            [4, 1],
            [2, 2],
            [1, 3],
            [2, 0],
          ])
        : 0;
    for (const each of random.some(objects, type.name.endsWith('Edge') ? 1 : many)) chosen.push(each);
  }
  const parts = random.shuffled(chosen).map((each) => {
    const isObject = !isLeafType(getNamedType(each.type));
    if (isObject && !isWrapper) draft.left--;
    const one = () => field(draft, type, each, isWrapper ? depth : depth - 1, prefix);
    const first = one();
    // Sometimes twice: with equal arguments the two selections are merged.
    const text = isObject && random.chance(0.08) ? `${first} ${one()}` : first;
    return wrapped(draft, type, text);
  });
  if (random.chance(0.08) || parts.length === 0) parts.push('__typename');
  return parts.join(' ');
}

/** Sometimes wraps a selection in a fragment: inline or named, conditional or deferred. */
function wrapped(draft: Draft, type: GraphQLObjectType, text: string): string {
  const { random } = draft;
  const defers = draft.isDivided && random.chance(0.25);
  if (!defers && !random.chance(0.12)) return text;
  const label = defers && random.chance(0.3) ? `label: "d${draft.labels++}"` : '';
  const condition = defers && random.chance(0.2) ? `if: ${flag(draft)}` : '';
  const inside = [condition, label].filter(Boolean).join(', ');
  const directive = defers
    ? ` @defer${inside ? `(${inside})` : ''}`
    : random.chance(0.3)
      ? ` @include(if: ${flag(draft)})`
      : '';
  const interfaces = type.getInterfaces();
  if (random.chance(0.4)) {
    const name = `F${draft.fragments.length}`;
    draft.fragments.push(`fragment ${name} on ${type.name} {${text}}`);
    return `...${name}${directive}`;
  }
  if (interfaces.length && random.chance(0.2))
    return `... on ${interfaces[0]!.name}${directive} {... on ${type.name} {${text}}}`;
  return `... ${random.chance(0.5) ? `on ${type.name}` : ''}${directive} {${text}}`;
}

// Arguments

type Make = (random: Random, ids: Ids) => unknown;
const idOf =
  (type: string, kind: Exclude<keyof Ids, 'person'>): Make =>
  (random, ids) => {
    const id = random.weighted([
      [40, random.pick(ids[kind])],
      [1, '999999'],
      [1, 'not an id'],
    ]);
    return random.chance(0.3) ? `${type}:${id}` : id;
  };
const nodeIds: Make = (random, ids) => {
  const of = (type: string, from: readonly string[]) => `${type}:${random.pick(from)}`;
  const owner = random.pick(ids.user);
  return random.weighted([
    [4, of('Book', ids.book)],
    [4, of('Subject', ids.subject)],
    [2, of('Celebrity', ids.celebrity)],
    [2, of('Event', ids.event)],
    [2, of('Annotation', ids.annotation)],
    [2, of('Note', ids.note)],
    [2, of('User', ids.user)],
    [2, of('Series', ids.series)],
    [2, of('City', ids.city)],
    // By the id of its owner: the facade answers a uid with it, which the reference does not know before it reads the record.
    [3, `Collection:${ids.person[owner] ?? owner}:${random.pick(ids.book)}`],
    [2, `NoteComment:${random.pick(ids.note)}:${random.pick(ids.comment)}`],
    [1, 'Nothing:1'],
    [1, 'Celebrity:~x'],
  ]);
};

/** Values of arguments by coordinate, or by name alone. Undefined leaves the argument out. */
const values: Readonly<Record<string, Make>> = {
  'Query.book.id': idOf('Book', 'book'),
  'Query.bookByIsbn.isbn': (random, ids) =>
    random.weighted([
      [8, random.pick(ids.isbn)],
      [1, '978-7-111-11111-9'],
      [1, '123'],
    ]),
  'Query.subject.id': idOf('Subject', 'subject'),
  'Query.celebrity.id': idOf('Celebrity', 'celebrity'),
  'Query.annotation.id': idOf('Annotation', 'annotation'),
  'Query.note.id': idOf('Note', 'note'),
  'Query.event.id': idOf('Event', 'event'),
  'Query.series.id': idOf('Series', 'series'),
  'Query.user.id': (random, ids) => (random.chance(0.1) ? 'nobody-there' : idOf('User', 'user')(random, ids)),
  'Query.city.id': idOf('City', 'city'),
  'Query.__type.name': (random) => random.pick([...Object.keys(schema.getTypeMap()), 'Nothing']),
  includeDeprecated: (random) => random.pick([undefined, true, false]),
  'Query.node.id': nodeIds,
  'Query.nodes.ids': (random, ids) => Array.from({ length: random.int(0, 4) }, () => nodeIds(random, ids)),
  'Book.collection.userId': idOf('User', 'user'),
  'User.bookCollection.bookId': idOf('Book', 'book'),
  'Note.noteComment.id': (random, ids) => random.pick(ids.comment),
  'Query.inTheaters.city': (random, ids) => random.pick([undefined, null, '北京', ids.city[1]!]),
  'Query.searchEvents.cityId': (random, ids) => random.pick([undefined, ids.city[0]!, `City:${ids.city[1]}`, null]),
  'Book.tags.first': (random) =>
    random.weighted([
      [3, undefined],
      [3, random.int(1, 8)],
      [2, random.int(9, 20)],
      [1, 0],
    ]),
  'Book.annotations.page': (random) =>
    random.weighted([
      [8, undefined],
      [1, 7],
      [1, 0],
      [1, null],
    ]),
  query: (random, ids) => random.pick([...ids.word, '  y ', undefined, '']),
  tag: (random, ids) => random.pick([...ids.tag, undefined, null]),
  first: (random) =>
    random.weighted([
      [4, undefined],
      [8, random.int(1, 4)],
      [3, random.pick([5, 8, 10])],
      [2, random.int(11, 20)],
      [1, random.pick([0, 101, -1])],
      [1, null],
    ]),
  offset: (random) =>
    random.weighted([
      [12, undefined],
      [3, random.int(0, 3)],
      [1, 0],
      [1, 9],
      [1, -1],
      [1, null],
    ]),
  after: (random) =>
    random.weighted([
      [30, undefined],
      [1, 'bm90IGEgY3Vyc29y'],
      [1, null],
    ]),
  last: (random) =>
    random.weighted([
      [24, undefined],
      [3, random.int(1, 4)],
      [1, random.int(5, 14)],
      [1, random.pick([0, 101, null])],
    ]),
  before: (random) =>
    random.weighted([
      [40, undefined],
      [1, 'bm90IGEgY3Vyc29y'],
      [1, null],
    ]),
  updatedFrom: () => undefined,
  updatedTo: () => undefined,
  rating: (random) =>
    random.weighted([
      [12, undefined],
      [1, 4],
      [1, 9],
    ]),
};

const bookId = idOf('Book', 'book');
const text = 'A text that is longer than fifteen characters. ';
/** Inputs of mutations by type name. */
const inputs: Readonly<Record<string, (random: Random, ids: Ids) => object>> = {
  CollectBookInput: (random, ids) => ({
    ...shelfInput(random, ids),
    ...(random.chance(0.6) ? { isPrivate: random.chance(0.4) } : {}),
    ...(random.chance(0.4) ? { onConflict: random.pick(['REPLACE', 'KEEP']), isPrivate: random.chance(0.4) } : {}),
  }),
  UpdateCollectionInput: (random, ids) => ({ ...shelfInput(random, ids), isPrivate: random.chance(0.4) }),
  DeleteCollectionInput: (random, ids) => ({ bookId: bookId(random, ids) }),
  CreateAnnotationInput: (random, ids) => ({
    bookId: bookId(random, ids),
    content: text,
    isPrivate: random.chance(0.5),
    ...random.pick([{}, { page: 7 }, { chapter: 'one' }]),
  }),
  DeleteAnnotationInput: (random, ids) => ({ id: random.pick(ids.annotation) }),
  CreateReviewInput: (random, ids) => ({
    bookId: bookId(random, ids),
    title: 'A title',
    content: text.repeat(random.chance(0.9) ? 5 : 1),
    ...random.pick([{}, { rating: 4 }]),
  }),
  JoinEventInput: (random, ids) => ({ id: random.pick(ids.event) }),
  LeaveEventInput: (random, ids) => ({ id: random.pick(ids.event) }),
  AddEventInterestInput: (random, ids) => ({ id: random.pick(ids.event) }),
  RemoveEventInterestInput: (random, ids) => ({ id: random.pick(ids.event) }),
  LikeNoteInput: (random, ids) => ({ id: random.pick(ids.note) }),
  UnlikeNoteInput: (random, ids) => ({ id: random.pick(ids.note) }),
  CreateNoteCommentInput: (random, ids) => ({ noteId: random.pick(ids.note), content: random.pick(['Said', '']) }),
  DeleteNoteCommentInput: (random, ids) => ({ noteId: random.pick(ids.note), commentId: random.pick(ids.comment) }),
};
const shelfInput = (random: Random, ids: Ids) => ({
  bookId: bookId(random, ids),
  status: random.pick(['WISH', 'READING', 'READ']),
  ...random.pick([{}, { rating: 4 }, { rating: 9 }, { rating: null }]),
  ...random.pick([{}, { tags: ['one', 'two'] }, { tags: [] }]),
  ...random.pick([{}, { comment: 'A comment' }]),
});

function argumentsFor(draft: Draft, parent: GraphQLObjectType, of: GraphQLField<unknown, unknown>): string {
  const { random } = draft;
  const given = of.args.flatMap((arg) => {
    const value = valueFor(draft, parent, of, arg);
    if (value === undefined) return [];
    // Null for a non-null type would make the document invalid.
    if (value === null && isNonNullType(arg.type)) return [];
    const type = String(arg.type);
    return [
      `${arg.name}: ${random.chance(0.2) || type.endsWith('Input!') ? variable(draft, type, value) : literal(value, type)}`,
    ];
  });
  const paged = withCursor(draft, parent, of, inOneDirection(draft, given));
  return paged.length ? `(${paged.join(', ')})` : '';
}

/** Mostly without what is an error beside `last` and `before`; a variable stays, because each is used. */
function inOneDirection({ random }: Draft, given: readonly string[]): readonly string[] {
  const isForward = (each: string) => /^(?:first|offset):/.test(each);
  const isBackward = (each: string) => /^(?:last|before):/.test(each);
  if (!given.some(isForward) || !given.some(isBackward) || random.chance(0.1)) return given;
  const isKept = given.some((each) => isForward(each) && each.includes('$')) ? isForward : isBackward;
  return given.filter((each) => each.includes('$') || isKept(each) || !(isForward(each) || isBackward(each)));
}

/** Sometimes a valid cursor of the list, if the list is known: at the root, or below a record with a known id. */
function withCursor(
  { random, variables, above }: Draft,
  parent: GraphQLObjectType,
  of: GraphQLField<unknown, unknown>,
  given: readonly string[],
): readonly string[] {
  const rule = fieldRule(of);
  const holder = parent.name === 'Query' ? {} : above?.type === parent.name ? { id: above.id } : undefined;
  if (rule.pageSize === undefined || !holder || !random.chance(0.15)) return given;
  const isBackward = of.args.some(({ name }) => name === 'before') && random.chance(0.4);
  const isPlace = (each: string) => /^(?:after|before|offset):/.test(each) || (isBackward && /^first:/.test(each));
  if (given.some((each) => isPlace(each) && each.includes('$'))) return given; // the variable would be left over
  const others = given.filter((each) => !isPlace(each));
  const { definitions } = parse(`{${of.name}${others.length ? `(${others.join(', ')})` : ''}}`, { noLocation: true });
  const node = (definitions[0] as OperationDefinitionNode).selectionSet.selections[0] as FieldNode;
  try {
    const args = getArgumentValues(of, node, variables);
    const endpoint = typeof rule.endpoint === 'function' ? rule.endpoint(args) : rule.endpoint!;
    const input = rule.input!(holder, args);
    const cursor = Buffer.from(`${listIdOf(endpoint, input)}:${random.int(0, 4)}`).toString('base64url');
    return [...others, `${isBackward ? 'before' : 'after'}: "${cursor}"`];
  } catch {
    return given; // wrong input
  }
}

function valueFor(
  { random, ids }: Draft,
  parent: GraphQLObjectType,
  of: GraphQLField<unknown, unknown>,
  arg: GraphQLArgument,
): unknown {
  const named = getNamedType(arg.type);
  const input = inputs[named.name];
  if (input) return input(random, ids);
  const make = values[`${parent.name}.${of.name}.${arg.name}`] ?? values[arg.name];
  if (make) return make(random, ids);
  if ('getValues' in named)
    return random.weighted([
      [2, undefined],
      [3, random.pick(named.getValues()).name],
    ]);
  return undefined;
}

/** A literal for the document; enum values have no quotes. */
function literal(value: unknown, type: string): string {
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, type)).join(', ')}]`;
  const isEnum = typeof value === 'string' && /^[A-Z_]+$/.test(value) && !/^(ID|String)/.test(type.replace(/^\[/, ''));
  return isEnum ? value : JSON.stringify(value);
}
