/**
 * The rule of identity: two objects with one id, read by one caller with no write in between, have one value in each field and arguments,
 * by every path and whatever else is selected.
 *
 * A response is a list of claims. A claim is the value of a field of an object with an id; fields of objects without an id belong to the
 * nearest object above them that has one. Null beside an error claims nothing.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type SelectionSetNode,
  Kind,
  TypeInfo,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  print,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { fragmentApplies, isIncluded } from '../../src/engine/plan/document.ts';
import { schema } from '../../src/graph/schema.ts';
import type { Shown } from './invariants.ts';
import { hasId } from './paths.ts';

export interface Claim {
  /** The object with an id, the field with its arguments, and the fields below it that have no id of their own. */
  key: string;
  /** `Type.field` */
  coordinate: string;
  path: string;
  value: string;
  /** That there is such an object, which no call has shown: an object beside it in the response has to agree, a later one not. */
  isOpen?: boolean;
}

/** What a reader asked. */
export interface Asked {
  document: DocumentNode;
  variables: Readonly<Record<string, unknown>>;
  /** Responses before this one have named the reader. */
  isNamed?: boolean;
}

type Sets = readonly SelectionSetNode[];

/** What is selected of objects of one type. */
interface Shape {
  names: readonly { key: string; name: string }[];
  fields: readonly Selected[];
}

interface Selected {
  /** In the response. */
  key: string;
  field: GraphQLField<unknown, unknown>;
  /** `Type.field` */
  coordinate: string;
  below: Sets;
  args: () => string;
}

/** An object: of which id is unknown if it was not selected. */
const SOME_OBJECT = '→';

/**
 * What depends on the calls made before, by its description; and the token of a list, which belongs to the name by which the person was
 * asked for.
 */
const changing = new Set([
  ...['Query.viewer', 'Query.service', 'SubjectConnection.totalIsCapped'],
  ...['CollectionChanges.since', 'AnnotationChanges.since', 'NoteChanges.since'],
]);
/** They are null in responses before one that has named the reader. */
const ofReader = /\.viewer(?:DidAuthor|CanUpdate|CanDelete|IsOrganizer)$|^Collection\.isPrivate$/;

/** Which page of its list a connection is. The total is that of the list. */
const paging = new Set(['first', 'after', 'last', 'before', 'offset']);
const listOf = (connection: string): string => connection.replace(/\n\[\[.*\]\]$/, '');

/**
 * Queries by an id, which make no call for the id alone: then it is not claimed that there is such an object. A person named by a uid has it
 * as the id until a response tells the own one. What exists for one service does not for another, so a response may know better.
 */
const byId = new Set(['Query.user', 'Query.city', 'Query.series', 'Query.node', 'Query.nodes']);

export function claimsIn(
  { document, variables, isNamed = false }: Asked,
  { data, errors = [], deferredAt = [] }: Shown,
): Claim[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions)
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!;
  const failed = errors.map(({ path = [] }) => path.join('.'));
  // A list reports once for all its items that the tier does not get a field.
  const withheld = new Set(
    errors.flatMap(({ path = [], extensions }) => (extensions?.code === 'TIER_REQUIRED' ? [keysOf(path)] : [])),
  );
  const claims: Claim[] = [];
  const shapes = new Map<Sets, Map<GraphQLObjectType, Shape>>();
  const root = schema.getRootType(operation.operation)!;
  // The fields of a payload belong to no object.
  if (data) walk(data, [operation.selectionSet], root, root === schema.getQueryType() ? 'Query' : undefined, '');
  return claims;

  function walk(value: unknown, sets: Sets, type: GraphQLObjectType, owner: string | undefined, path: string): void {
    const object = value as Record<string, unknown>;
    const shape = shapeOf(sets, type);
    const own = hasId(type) ? idIn(object, shape) : owner;
    for (const selected of shape.fields) {
      const { key, field, coordinate, args } = selected;
      if (object[key] === undefined || changing.has(coordinate)) continue;
      const of = field.name === 'totalCount' ? own && listOf(own) : own;
      const place = of === undefined ? undefined : `${of}.${field.name}${args()}`;
      valueAt(object[key], selected, field.type, place, path ? `${path}.${key}` : key);
    }
  }

  function valueAt(
    value: unknown,
    selected: Selected,
    declared: GraphQLOutputType,
    place: string | undefined,
    path: string,
  ): void {
    const { coordinate, below } = selected;
    const claim = (text: string, isOpen = false, key = place) => {
      if (key !== undefined) claims.push({ key, coordinate, path, value: text, isOpen });
    };
    const referenceAt = place && `${place} by its id`;
    if (value === null) {
      if (isFailed(path)) return;
      claim('null', !isNamed && ofReader.test(coordinate));
      if (isReference(below)) claim('null', false, referenceAt);
      return;
    }
    const named = getNamedType(declared);
    if (Array.isArray(value) && isListType(getNullableType(declared))) {
      claim(`${value.length} items`);
      value.forEach((item, at) => valueAt(item, selected, named, place && `${place}[${at}]`, `${path}.${at}`));
      return;
    }
    if (below.length === 0) return claim(JSON.stringify(value));
    const type = typeOf(value as object, named.name, below);
    if (!type) return claim(SOME_OBJECT);
    const shape = shapeOf(below, type);
    const object = value as Record<string, unknown>;
    const isOpen = byId.has(coordinate) || (coordinate.startsWith('Query.') && showsNothing(object, shape));
    const id = hasId(type) ? (idIn(object, shape) ?? '') : '';
    if (isOpen && !deferredAt.includes(path)) claim(SOME_OBJECT, true);
    if (!isOpen && !isBare(shape)) claim(SOME_OBJECT + id);
    if (!isOpen && id) claim(SOME_OBJECT + id, false, referenceAt);
    walk(value, below, type, place, path);
  }

  function typeOf(value: object, name: string, sets: readonly SelectionSetNode[]): GraphQLObjectType | undefined {
    const type = schema.getType(name);
    if (isObjectType(type)) return type;
    if (!isAbstractType(type)) return undefined;
    const shown = (field: string): string[] =>
      keysFor(field, sets).flatMap((key) => {
        const each = (value as Record<string, unknown>)[key];
        return typeof each === 'string' ? [each] : [];
      });
    const [known = ''] = [...shown('__typename'), ...shown('id').map((id) => id.replace(/:.*$/, ''))].filter(Boolean);
    const found = schema.getType(known);
    return isObjectType(found) ? found : undefined;
  }

  /** The names that a response has for a field, of whatever type. */
  function keysFor(field: string, sets: readonly SelectionSetNode[]): string[] {
    return sets.flatMap(({ selections }) =>
      selections.flatMap((each): string[] => {
        if (each.kind === Kind.FIELD) return each.name.value === field ? [each.alias?.value ?? field] : [];
        const { selectionSet } = each.kind === Kind.FRAGMENT_SPREAD ? fragments.get(each.name.value)! : each;
        return keysFor(field, [selectionSet]);
      }),
    );
  }

  function collect({ selections }: SelectionSetNode, type: GraphQLObjectType, groups: Map<string, FieldNode[]>): void {
    for (const selection of selections) {
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        groups.set(key, [...(groups.get(key) ?? []), selection]);
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection;
      if (fragmentApplies(schema, fragment.typeCondition?.name.value, type))
        collect(fragment.selectionSet, type, groups);
    }
  }

  /** What is selected of an object of this type. */
  function shapeOf(sets: Sets, type: GraphQLObjectType): Shape {
    const ofSets = shapes.get(sets) ?? new Map<GraphQLObjectType, Shape>();
    shapes.set(sets, ofSets);
    const known = ofSets.get(type);
    if (known) return known;
    const groups = new Map<string, FieldNode[]>();
    for (const set of sets) collect(set, type, groups);
    const fields = [...groups].flatMap(([key, nodes]): Selected[] => {
      const field = type.getFields()[nodes[0]!.name.value];
      if (!field) return [];
      const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      let text: string | undefined;
      const args = () => (text ??= argumentsText(field, nodes[0]!, variables));
      return [{ key, field, coordinate: `${type.name}.${field.name}`, below, args }];
    });
    const shape = { names: [...groups].map(([key, [node]]) => ({ key, name: node!.name.value })), fields };
    ofSets.set(type, shape);
    return shape;
  }

  function isFailed(path: string): boolean {
    if (errors.length === 0) return false;
    return (
      failed.some((at) => at === '' || at === path || at.startsWith(`${path}.`) || path.startsWith(`${at}.`)) ||
      withheld.has(keysOf(path.split('.')))
    );
  }
}

/** No call is made for these alone, so they do not claim that there is such an object. */
const bare = new Set(['id', 'sourceId', 'isSite', '__typename']);
const isBare = ({ names }: Shape): boolean => names.every(({ name }) => bare.has(name));

/** Whether nothing but the id is selected: such an object may be there although its record is not. */
const isReference = (sets: Sets): boolean =>
  sets.length > 0 &&
  sets.every(({ selections }) => selections.every((each) => each.kind === Kind.FIELD && bare.has(each.name.value)));

const showsNothing = (object: Record<string, unknown>, { names }: Shape): boolean =>
  names.every(({ key, name }) => bare.has(name) || object[key] == null);

/** A path without positions in lists. */
const keysOf = (path: readonly (string | number)[]): string =>
  path.filter((key) => !/^\d+$/.test(String(key))).join('.');

function idIn(object: Record<string, unknown>, { names }: Shape): string | undefined {
  for (const { key, name } of names) if (name === 'id' && typeof object[key] === 'string') return object[key];
  return undefined;
}

function argumentsText(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Readonly<Record<string, unknown>>,
): string {
  if (!node.arguments?.length) return argumentsByDefault(field);
  const values = Object.entries(getArgumentValues(field, node, variables)).filter(([, value]) => value != null);
  const sorted = values.sort(([one], [other]) => (one < other ? -1 : 1));
  const [others, page] = [false, true].map((is) => sorted.filter(([name]) => paging.has(name) === is));
  return `${others!.length > 0 ? JSON.stringify(others) : ''}${page!.length > 0 ? `\n${JSON.stringify(page)}` : ''}`;
}

const argumentsByDefault = (field: GraphQLField<unknown, unknown>): string =>
  field.args.some(({ defaultValue }) => defaultValue != null)
    ? argumentsText(field, { kind: Kind.FIELD, name: { kind: Kind.NAME, value: field.name }, arguments: [none] }, {})
    : '';
/** So that defaults are filled in. */
const none = { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: '' }, value: { kind: Kind.NULL } } as const;

export interface Conflict extends Claim {
  /** The value that was claimed before, and where. */
  before: { value: string; path: string; source: string };
}

/** What one caller has read since the last write. */
export class Identities {
  private readonly claims = new Map<string, { value: string; path: string; source: string }>();

  clear(): void {
    this.claims.clear();
  }

  /** How many values are known. */
  get size(): number {
    return this.claims.size;
  }

  /** How many values were compared with one that was known. */
  compared = 0;

  /** Adds the claims of a response and returns those that contradict one. `source` says where they are from. */
  add(claims: readonly Claim[], source: string): Conflict[] {
    const lasting = claims.filter(({ isOpen }) => !isOpen);
    const inside = lasting.length < claims.length ? new Identities().addAll(claims, source) : [];
    const isNew = ({ path }: Claim): boolean => !inside.some((each) => each.path === path);
    return [...inside, ...this.addAll(lasting, source).filter(isNew)];
  }

  private addAll(claims: readonly Claim[], source: string): Conflict[] {
    const conflicts: Conflict[] = [];
    for (const claim of claims) {
      const before = this.claims.get(claim.key);
      if (!before || (before.value === SOME_OBJECT && claim.value.startsWith(SOME_OBJECT))) {
        this.claims.set(claim.key, { value: claim.value, path: claim.path, source });
        continue;
      }
      this.compared++;
      const agrees =
        before.value === claim.value || (claim.value === SOME_OBJECT && before.value.startsWith(SOME_OBJECT));
      if (!agrees) conflicts.push({ ...claim, before });
    }
    return conflicts;
  }
}

/** The document with the id of every object that has one, as clients with a normalised cache send it. */
export function withIds(document: DocumentNode): string {
  const types = new TypeInfo(schema);
  const id: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'id' } };
  return print(
    visit(
      document,
      visitWithTypeInfo(types, {
        SelectionSet(set) {
          const type = types.getParentType();
          if (!type || !('getFields' in type) || !('id' in type.getFields())) return undefined;
          const isThere = set.selections.some(
            (each) => each.kind === Kind.FIELD && (each.alias?.value ?? each.name.value) === 'id',
          );
          return isThere ? undefined : { ...set, selections: [id, ...set.selections] };
        },
      }),
    ),
  );
}
