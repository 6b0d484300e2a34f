import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  getNullableType,
  isObjectType,
} from 'graphql';

/** Arguments of root fields, with ids of the demo data. */
const roots: Record<string, readonly string[]> = {
  book: ['id: "6082808"', 'id: "Book:26340138"', 'id: "1"'],
  bookByIsbn: ['isbn: "9787544253994"'],
  searchBooks: ['query: "百年"', 'tag: "小说"'],
  series: ['id: "23971"'],
  subject: ['id: "26266893"', 'id: "1292052"'],
  celebrity: ['id: "1000525"', 'id: "1044707"'],
  searchSubjects: ['query: "流浪"', 'tag: "剧情"'],
  top250: [''],
  usBoxOffice: [''],
  weeklyChart: [''],
  newMovies: [''],
  inTheaters: [''],
  comingSoon: [''],
  event: ['id: "30134553"'],
  searchEvents: ['query: "电影"', 'cityId: "guangzhou"'],
  city: ['id: "beijing"'],
  user: ['id: "alice"', 'id: "bob"'],
  nodes: ['ids: ["Book:6082808", "Subject:26266893", "Celebrity:1044707", "User:bob", "Book:1"]'],
  node: ['id: "Book:6082808"', 'id: "Subject:26266893"', 'id: "Event:30134553"'],
};
/** Fields that require an id. */
const given: Record<string, string> = { collection: 'userId: "alice"', comment: 'id: "1"' };

export interface RandomDocument {
  query: string;
  variables: Record<string, unknown>;
}

/** A document generated from a seed: aliases, fragments, directives, variables, page arguments. The same seed gives the same document. */
export function randomDocument(schema: GraphQLSchema, seed: number, { depth = 5, first = 4 } = {}): RandomDocument {
  const random = mulberry32(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const chance = (share: number) => random() < share;
  const declared: string[] = [];
  const variables: Record<string, unknown> = {};
  const fragments: string[] = [];

  const names = Object.keys(roots);
  const count = 1 + Math.floor(random() * 3);
  const queryFields = schema.getQueryType()!.getFields();
  const body = Array.from({ length: count }, (_, index) => {
    const name = pick(names);
    const field = queryFields[name]!;
    const args = [pick(roots[name]!), ...windowArgs(field)].filter(Boolean).join(', ');
    return `r${index}: ${name}${args ? `(${args})` : ''}${directive()} ${selection(field, depth)}`;
  });
  const head = declared.length ? `query(${declared.join(', ')})` : 'query';
  return { query: [`${head} {\n${body.join('\n')}\n}`, ...fragments].join('\n'), variables };

  function selection(field: GraphQLField<unknown, unknown>, left: number): string {
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return '';
    if (isAbstractType(type)) {
      const parts = schema.getPossibleTypes(type).filter(() => chance(0.4));
      return `{ __typename ${parts.map((each) => `... on ${each.name} ${fieldsOf(each.name, left - 1)}`).join(' ')} }`;
    }
    return fieldsOf(type.name, left);
  }

  function fieldsOf(name: string, left: number): string {
    const type = schema.getType(name);
    if (!isObjectType(type)) return '{ __typename }';
    const all = Object.values(type.getFields()).filter(
      (field) => left > 1 || !isCompositeType(getNamedType(field.type)),
    );
    const wraps = /(Connection|Edge|Chart|Entry)$/.test(name);
    const chosen = all.filter(() => chance(wraps ? 0.6 : 0.25));
    if (chosen.length === 0) return '{ __typename }';
    const parts = chosen.map((field, index) => {
      const alias = chance(0.2) ? `a${index}: ` : '';
      const args = argsOf(field);
      return `${alias}${field.name}${args ? `(${args})` : ''}${directive()} ${selection(field, left - 1)}`;
    });
    if (chance(0.15)) {
      const fragment = `F${fragments.length}`;
      fragments.push('');
      fragments[Number(fragment.slice(1))] = `fragment ${fragment} on ${name} { ${parts.join(' ')} }`;
      return `{ __typename ...${fragment} }`;
    }
    if (chance(0.15)) return `{ __typename ... on ${name} { ${parts.join(' ')} } }`;
    return `{ ${parts.join(' ')} }`;
  }

  function argsOf(field: GraphQLField<unknown, unknown>): string {
    const required =
      given[field.name] && field.args.some((arg) => /^(userId|id)$/.test(arg.name)) ? [given[field.name]!] : [];
    const chosen = field.args.filter(
      (arg) => isEnumType(getNullableType(arg.type)) && !isListType(getNullableType(arg.type)) && chance(0.4),
    );
    return [...required, ...windowArgs(field), ...chosen.map(enumArg)].join(', ');
  }

  function windowArgs(field: GraphQLField<unknown, unknown>): string[] {
    if (!field.args.some((arg) => arg.name === 'first')) return [];
    const size = 1 + Math.floor(random() * first);
    if (!chance(0.3)) return [`first: ${size}`];
    const name = `v${declared.length}`;
    declared.push(`$${name}: Int`);
    variables[name] = size;
    return [`first: $${name}`];
  }

  function enumArg(arg: GraphQLArgument): string {
    const type = getNullableType(arg.type);
    return isEnumType(type) ? `${arg.name}: ${pick(type.getValues()).name}` : '';
  }

  function directive(): string {
    if (!chance(0.12)) return '';
    const name = chance(0.5) ? 'skip' : 'include';
    if (chance(0.5)) return ` @${name}(if: ${chance(0.5)})`;
    const variable = `v${declared.length}`;
    declared.push(`$${variable}: Boolean!`);
    variables[variable] = chance(0.5);
    return ` @${name}(if: $${variable})`;
  }
}

export function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}
