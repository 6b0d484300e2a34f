/** How a table of endpoints is declared. */
import { type Endpoint, type Media, type Method, type Repeat, type Scope, isForEverybody, tiers } from './endpoint.ts';

interface Takes<In> {
  readonly body: Media | undefined;
  readonly types?: In;
}
interface Gives<Out> {
  readonly status: number;
  readonly media: Media | undefined;
  readonly types?: Out;
}

/** What all rows of a table have in common. A row may say otherwise who may see a response of it. */
export interface TableFacts
  extends
    Pick<Endpoint, 'service' | 'group' | 'hasFields' | 'paging' | 'absentBy' | 'share'>,
    Partial<Pick<Endpoint, 'isLimited' | 'isTiered'>> {}

/** What the tables of the v2 interface have in common. */
export const v2 = { service: 'catalog', hasFields: true, paging: 'start', absentBy: 'code' } as const;

/** What a row may say besides its columns. */
type Options = Partial<
  Pick<
    Endpoint,
    | 'list'
    | 'key'
    | 'repeats'
    | 'share'
    | 'visibility'
    | 'isWritten'
    | 'tiers'
    | 'gates'
    | 'login'
    | 'absentOn'
    | 'caller'
    | 'viewerMember'
    | 'freshSeconds'
  >
>;

/** The input of a call besides the path parameters: the query of a GET, the body of a write. */
export const takes = <In = object>(body?: Media): Takes<In> => ({ body });
/** The status and the body of a successful response. */
export const gives = <Out = void>(status: number, media?: Media): Gives<Out> => ({ status, media });

/** A member with the same text as a parameter. */
export const repeats = (member: string, param = member): Repeat => ({ member, param, as: 'text' });
/** A member with the id of a person, who may be requested by uid too. */
export const repeatsPerson = (member: string, param = member): Repeat => ({ member, param, as: 'person' });

/** A record requested by its id. */
export const byOwnId = { repeats: [repeats('id')] } as const satisfies Options;
/** A write that returns the record. */
export const givesRecord = { key: ['id'] } as const satisfies Options;
/** A write that returns its author. */
export const byAuthor = { caller: 'author' } as const satisfies Options;
/** A write to an existing record that returns it. */
export const givesThatRecord = { ...givesRecord, ...byOwnId } as const satisfies Options;

/** A row before it is in a table. */
export interface AnyRow extends Pick<Endpoint, 'method' | 'path' | 'scope'> {
  readonly input: Takes<unknown>;
  readonly answer: Gives<unknown>;
  readonly options: Options;
}
interface Row<Line, In, Out> extends AnyRow {
  readonly types?: { line: Line; in: In; out: Out };
}

/** With method and path as types, so that other tables can be required to have a row for each. */
export type Made<Each> =
  Each extends Row<infer Line, infer In, infer Out>
    ? Endpoint<In, Out> & (Line extends `${infer Verb} ${infer Path}` ? { method: Verb; path: Path } : never)
    : never;

type Segments<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Segments<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parameters in the path of a row: `/v2/book/:id` has an `id`. */
type PathInput<Row extends string> = { [Name in Segments<Row>]: string };

/** Declares one row: method and path, scope, input, response. */
export function endpoint<Line extends `${Method} /${string}`, In, Out>(
  line: Line,
  scope: Scope | null,
  input: Takes<In>,
  answer: Gives<Out>,
  options: Options = {},
): Row<Line, PathInput<Line> & In, Out> {
  const [method, path] = line.split(' ') as [Method, string];
  return { method, path, scope, input, answer, options };
}

/** A table of endpoints. */
export function endpointTable<Rows extends Readonly<Record<string, AnyRow>>>(
  facts: TableFacts,
  rows: Rows,
): { readonly [Name in keyof Rows]: Made<Rows[Name]> } {
  const isReadOnly = Object.values(rows).every(({ method }) => method === 'GET');
  const made = Object.entries(rows).map(([name, row]) => [name, madeOf(row, facts, isReadOnly)]);
  return Object.fromEntries(made) as never;
}

function madeOf(row: AnyRow, facts: TableFacts, isReadOnly: boolean): Endpoint {
  const { method, path, scope, input, answer, options } = row;
  const reads = method === 'GET';
  const share = reads ? (options.share ?? facts.share) : 'viewer';
  return Object.freeze({
    method,
    path,
    params: [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!),
    between: path.split(/:\w+/),
    service: facts.service,
    group: facts.group,
    isLimited: facts.isLimited ?? false,
    isTiered: facts.isTiered ?? false,
    isReadOnly,
    hasFields: facts.hasFields,
    paging: facts.paging,
    absentBy: facts.absentBy,
    scope,
    status: answer.status,
    body: input.body ?? (reads || method === 'DELETE' ? 'empty' : 'json'),
    media: answer.media ?? 'json',
    list: options.list,
    key: options.key ?? (reads && options.list === undefined ? ['id'] : []),
    repeats: options.repeats ?? [],
    share,
    usesOwnToken: isForEverybody({ share }),
    visibility: options.visibility,
    isWritten: options.isWritten ?? !isForEverybody({ share }),
    tiers: options.tiers ?? tiers,
    gates: options.gates,
    login: options.login ?? !reads,
    absentOn: options.absentOn ?? [],
    caller: options.caller,
    viewerMember: options.viewerMember,
    freshSeconds: options.freshSeconds,
  });
}
