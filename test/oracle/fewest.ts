/** Compares the calls of generated queries with those of the planner. */
import { type CaseOperation } from './generate-case.ts';
import { execute, parsed, tokenFor, wrongWith } from './clients.ts';
import { generateOperation, generatePaths } from './generate-operations.ts';
import { fewerThan } from './brute.ts';
import { fewestRequests } from './minimum.ts';
import { noOddities } from './oddities.ts';
import { FaultyService, OWN_TOKEN, type Settings, after, openProduct } from './product.ts';
import { createRandom } from './random.ts';
import type { Requester } from './reference.ts';
import { openScripted } from './service.ts';
import type { Manners } from './upstreams.ts';
import { createWorld, worldIds } from './world.ts';

/** Everybody has the tier that gets all records and lists: what another tier is refused is not about the fewest calls. */
const TIER = 'advance';
const settings: Settings = {
  ...{ own: { tier: TIER, isTold: true }, recordTtlSeconds: null, readAttempts: 1, callTimeoutMs: 60_000 },
  ...{ maxUpstreamCalls: 400, isWatched: true, bySockets: false },
};
const manners: Manners = {
  ...{
    fields: 'honoured',
    hidesTotals: false,
    ignoresWindows: false,
    ignoresStarts: false,
    hidesItems: false,
    caching: 'none',
  },
};

/** The service has several statuses for an absent record. */
const BAD_REQUEST = 400;

export interface Compared {
  document: string;
  person: string | null;
  made: string[];
  /** The requests of the planner, wave by wave. */
  fewest: string[][];
  /** Why the calls that the planner does not make are made; empty if there are none. */
  reasons: string[];
}

/** Responses to the requests of one wave come together, as the planner has them: when no further request has come for some turns. */
class EvenService extends FaultyService {
  private open: { come: () => void; hasCome: Promise<void> } | undefined;
  private count = 0;
  private wave = 0;
  /** The wave of each request. */
  readonly waves: number[] = [];

  override meet(...request: Parameters<FaultyService['meet']>): ReturnType<FaultyService['meet']> {
    const meeting = super.meet(...request);
    if (!this.open) {
      this.wave++;
      let come = (): void => undefined;
      const hasCome = new Promise<void>((resolve) => (come = resolve));
      this.open = { come, hasCome };
    }
    this.waves.push(this.wave);
    const [{ hasCome }, at] = [this.open, ++this.count];
    after(QUIET_TURNS, () => {
      if (at !== this.count) return;
      this.open?.come();
      this.open = undefined;
    });
    return { ...meeting, turns: 0, released: hasCome };
  }
}
const QUIET_TURNS = 10;

/** Finds the fewest requests, wave by wave as far as it knows them. `made`: those of the facade. */
type FindFewest = (made: readonly string[], ...query: Parameters<typeof fewestRequests>) => Promise<string[][]>;
const byPlanner: FindFewest = (_, ...query) => fewestRequests(...query);

/** Of a query that makes more, brute force takes too long. */
const SMALL = 6;
const isSmall = ({ made }: Compared): boolean => made.length <= SMALL;
const byBruteForce: FindFewest = async (made, ...query) => {
  const fewer = made.length <= SMALL ? await fewerThan(made.length, ...query) : undefined;
  return [fewer ?? [...made]];
};

/** Undefined for a query that is not valid, or that makes no call. */
export async function compareCalls(seed: string, find = byPlanner): Promise<Compared | undefined> {
  const random = createRandom(seed);
  const person = random.pick([null, 'bob']);
  const { document, variables } = random.chance(0.5)
    ? generateOperation(random, { ids: worldIds, isMutation: false, isDivided: false })
    : generatePaths(random, worldIds)[0]!;
  const operation: CaseOperation = { document, variables, person, client: { via: 'pipeline' } };
  const worldSeed = random.int(1, 400);
  const compared = await compareOver(FaultyService, worldSeed, operation, find);
  if (!compared || compared.reasons.length === 0) return compared;
  const even = await compareOver(EvenService, worldSeed, operation, find);
  return even && even.reasons.length > 0 ? even : { ...compared, reasons: [ONE_AFTER_THE_OTHER] };
}

async function compareOver(
  Between: typeof FaultyService,
  worldSeed: number,
  operation: CaseOperation,
  find: FindFewest,
): Promise<Compared | undefined> {
  const { document, variables, person } = operation;
  const service = openScripted(createWorld(worldSeed), manners, settings);
  const faulty = new Between(service, { seed: 0, rate: 0 }, noOddities);
  const product = openProduct(faulty, settings);
  try {
    // What is read as nobody, to tell whether a collection is private, is beside what the planner knows.
    if (wrongWith(product, operation) || /__(?:schema|type)\b|\bisPrivate\b/.test(document)) return undefined;
    const result = await execute(product, operation, 'fewest');
    // What a list with arguments that are not allowed would lead to is not known.
    if (result?.errors?.some(({ extensions }) => extensions?.code === 'BAD_USER_INPUT')) return undefined;
    const token = tokenFor(operation);
    const requester: Requester = {
      ...{ token, tier: TIER, accessToken: OWN_TOKEN, filmTier: TIER, person, personsOf: service.personsOf },
      isOwn: () => false,
    };
    const { waves, ...responded } = await service.apart(async (fetch) => {
      const received = ({ line }: { line: string }) => {
        const [method = '', path = ''] = line.split(' ');
        return [line, fetch({ method, path, body: '', token: token ?? OWN_TOKEN })] as const;
      };
      const lines = faulty.met.map(({ line }) => line);
      const waves = await find(lines, parsed(document), variables, requester, fetch);
      const responses = new Map(faulty.met.map(received));
      return {
        waves,
        isAbsent: (line: string) => responses.get(line)!.status >= BAD_REQUEST,
        isEmpty: (line: string) =>
          responses.get(line)!.body.includes(`"${partsOf(line).path.replace(/^.*\//, '')}":[]`),
        shows: (line: string, path: string) => responses.get(line)!.body.includes(`${path}<`),
        namesAuthor: (line: string, id: string) => responses.get(line)!.body.includes(`"author_user":{"id":"${id}"`),
      };
    });
    const made = faulty.met.map(({ line }) => line);
    if (made.length + waves.length === 0) return undefined;
    const waveOf = faulty instanceof EvenService ? faulty.waves : [];
    const lines = made.map((line, at) => partsOf(line, waveOf[at]));
    return { document, person, made, fewest: waves, reasons: reasonsFor(lines, waves.flat(), responded) };
  } finally {
    await product.close();
    await service.close();
  }
}

/** A request line in parts. */
interface Line {
  path: string;
  /** Without `fields` and the window. */
  list: string;
  start: number;
  end: number;
  fields: string | undefined;
  line: string;
  /** Undefined if its wave is not known. */
  wave: number | undefined;
}

function partsOf(line: string, wave?: number): Line {
  const [path = '', query = ''] = line.slice('GET '.length).split('?');
  const {
    fields,
    start,
    count,
    'start-index': index,
    'max-results': most,
    ...rest
  } = Object.fromEntries(new URLSearchParams(query)) as Record<string, string | undefined>;
  const from = Number(start ?? Number(index ?? 1) - 1);
  const list = `${path} ${JSON.stringify(Object.entries(rest).sort())}`;
  return { path, list, start: from, end: from + Number(count ?? most ?? 0), fields, line, wave };
}

/** A request that is made although the planner does not make it. */
interface Extra extends Responded {
  extra: Line;
  /** The other requests that were made. */
  others: readonly Line[];
}

/** What was responded to a request. */
interface Responded {
  isAbsent: (line: string) => boolean;
  /** Whether it is a list without items. */
  isEmpty: (line: string) => boolean;
  /** Whether a feed has the entry with this path. */
  shows: (line: string, path: string) => boolean;
  /** Whether an item has this author, and not only the id. */
  namesAuthor: (line: string, id: string) => boolean;
}

const isList = ({ start, end }: Line): boolean => end > start;

/** Responses of a wave come at different times, and each leads on at once. */
const ONE_AFTER_THE_OTHER =
  'responses that came one after the other led to it: no more calls are made if those of a wave come together';

/** Members that hold the first page of a list, or a part of another record, and the end of its path. */
const firstPages: Readonly<Record<string, string>> = {
  ...{
    tags: 'tags',
    popular_reviews: 'reviews',
    photos: 'photos',
    works: 'works',
    current_user_collection: 'collection',
  },
};

/** Why a call is made that the planner does not make. Each is a predicate: the first that holds is counted. */
export const reasons: readonly { name: string; isDefect?: boolean; holds: (extra: Extra) => boolean }[] = [
  {
    name: 'a record and a call below it began together, and the record is absent',
    holds: ({ extra, others, isAbsent }) =>
      others.some(({ path, line }) =>
        extra.path.startsWith(`${path}/`)
          ? isAbsent(line)
          : path.startsWith(`${extra.path}/`) && isAbsent(extra.line) && extra.fields !== 'id',
      ),
  },
  {
    name: 'a list is asked for in two windows, of which neither has the other: if one request for both left out items, three would be made',
    holds: ({ extra, others }) =>
      isList(extra) &&
      !isReference(extra) &&
      others.some(
        (each) =>
          each.list === extra.list &&
          !isReference(each) &&
          (each.start < extra.start ? each.end < extra.end : each.end > extra.end && each.start > extra.start),
      ),
  },
  {
    name: ONE_AFTER_THE_OTHER,
    holds: () => false, // measured, in `compareCalls`
  },
  {
    name: 'a record was asked for again, for members that a response led to which came later',
    holds: ({ extra, others }) => !isList(extra) && others.some(({ list, fields }) => list === extra.list && fields),
  },
  {
    name: 'the first page of a list, or a part, came with its record, and more of it was selected at another place',
    holds: ({ extra, others }) =>
      !isList(extra) &&
      others.some(({ path }) =>
        (extra.fields ?? '').split(',').some((member) => path === `${extra.path}/${firstPages[member]}`),
      ),
  },
  {
    name: 'what is selected of the parent of a list or a record was loaded together with it, and it is empty or absent',
    holds: ({ extra, others, isAbsent, isEmpty }) =>
      (!isList(extra) || isReference(extra)) &&
      others.some(({ path, list, line }) =>
        isBelow(path, extra.path)
          ? isEmpty(line) || isAbsent(line)
          : isCollectionOf(list, extra.path) && isAbsent(line),
      ),
  },
  {
    name: 'an item has only the id of its author, whom another item of the list names',
    holds: ({ extra, others, namesAuthor }) => others.some(({ line }) => namesAuthor(line, personIn(extra.path) ?? '')),
  },
  {
    name: 'two lists have an event, of which one names the organizer',
    holds: ({ extra, others, shows }) =>
      /^\/event\/\w+$/.test(extra.path) && others.filter(({ line }) => shows(line, extra.path)).length > 1,
  },
  {
    name: 'a person, a city or a series is told by a list, of which another part is selected at another place',
    holds: ({ extra, others }) => {
      const ofPath = [extra, ...others].filter(({ path }) => path === extra.path);
      return ofPath.some(isReference) && !ofPath.every(isReference);
    },
  },
  {
    name: 'two responses that came in one tick led to one list, and the second began when the first had been asked for',
    holds: ({ extra, others }) =>
      isList(extra) &&
      others.some(({ list, wave }) => list === extra.list && wave !== undefined && wave === extra.wave),
  },
  {
    name: 'a record is asked for its id at one place, and a list that shows it at another',
    holds: ({ extra, others }) =>
      (extra.fields === 'id' || /^\/event\/\w+$/.test(extra.path)) &&
      others.some(({ path }) => path.startsWith(`${extra.path}/`)),
  },
  {
    name: 'a list was asked for again, for members or items that a response led to which came later',
    holds: ({ extra, others }) =>
      isList(extra) &&
      others.some(({ list, wave }) => list === extra.list && wave !== undefined && wave !== extra.wave),
  },
  {
    name: 'a list is asked for with other members, or in a part of another window',
    isDefect: true,
    holds: ({ extra, others }) =>
      isList(extra) &&
      others.some(({ list, start, end }) => list === extra.list && start <= extra.start && end >= extra.end),
  },
  {
    name: 'a film or a film person is told by a list, which is selected at another place',
    holds: ({ extra, others }) =>
      /^\/v2\/movie\/(?:subject|celebrity)\/\w+$/.test(extra.path) &&
      others.some(({ path }) => path.startsWith(`${extra.path}/`)),
  },
  {
    name: 'a record is asked for in two formats, although one has all of it',
    isDefect: true,
    holds: ({ extra, others }) => !isList(extra) && others.some(({ path }) => path === extra.path),
  },
];

/** The id in the path of a person. */
const personIn = (path: string): string | undefined => /^\/people\/([^/]+)\/events$/.exec(path)?.[1];

/** The lists of a person are in two services. */
const isBelow = (path: string, record: string): boolean =>
  path.startsWith(`${record}/`) || path.startsWith(record.replace(/^\/people\/([^/]+)\/events$/, '/v2/book/user/$1/'));

/** The collection of a book by a person, who is in its query. */
const isCollectionOf = (list: string, person: string): boolean => {
  const id = personIn(person);
  return id !== undefined && list.includes(`/collection [["user_id","${id}"]]`);
};

/** The request of a reference is one for the first item of a list, without a start. */
const isReference = ({ line, end, start }: Line): boolean => start === 0 && end === 1 && !/[?&]start/.test(line);

export const NO_REASON = 'no reason';

function reasonsFor(lines: readonly Line[], fewest: readonly string[], responded: Responded): string[] {
  if (lines.length <= fewest.length) return [];
  const left = fewest.map((line) => sameAs(partsOf(line)));
  const found = lines.flatMap((extra) => {
    const place = left.indexOf(sameAs(extra));
    if (place >= 0) {
      left.splice(place, 1);
      return [];
    }
    const others = lines.filter((each) => each !== extra);
    return [reasons.find(({ holds }) => holds({ extra, others, ...responded }))?.name ?? NO_REASON];
  });
  // Some are made in the place of others that the planner makes.
  for (let others = left.length; others > 0 && found.includes(NO_REASON); others--)
    found.splice(found.indexOf(NO_REASON), 1);
  return found;
}

const sameAs = ({ list, start, end }: Line): string => `${list} ${start} ${end}`;

export interface Summary {
  queries: number;
  /** With more calls than the planner, by reason. */
  byReason: Map<string, number>;
  /** With more calls by a rule, and by no defect. */
  byRule: number;
  /** With fewer. */
  fewer: number;
  /** Those with more calls. */
  more: (Compared & { seed: string })[];
}

/** `byForce`: by brute force, of so many small queries of different shapes. */
export async function compareAll(seed: string, count: number, from = 0, byForce = false): Promise<Summary> {
  const summary: Summary = { queries: 0, byReason: new Map(), byRule: 0, fewer: 0, more: [] };
  const shapes = new Set<string>();
  for (let at = from; summary.queries < count; at++) {
    const compared = await compareCalls(`${seed}/${at}`, byForce ? byBruteForce : byPlanner);
    if (!compared || (byForce && (!isSmall(compared) || shapes.has(shapeOf(compared))))) continue;
    shapes.add(shapeOf(compared));
    summary.queries++;
    if (compared.made.length < compared.fewest.flat().length) summary.fewer++;
    for (const reason of new Set(compared.reasons))
      summary.byReason.set(reason, (summary.byReason.get(reason) ?? 0) + 1);
    const isRule = (name: string) => reasons.some((each) => each.name === name && !each.isDefect);
    if (compared.reasons.length > 0 && compared.reasons.every(isRule)) summary.byRule++;
    if (compared.reasons.length > 0) summary.more.push({ ...compared, seed: `${seed}/${at}` });
  }
  return summary;
}

/** A query without its ids, numbers and names of its own. */
const shapeOf = ({ document }: Compared): string =>
  document
    .replace(/"[^"]*"/g, '""')
    .replace(/\b\w+: (?=\w+)/g, '')
    .replace(/\d+/g, '0');

/** Those of which some call has no reason. */
export const unexplained = ({ more }: Summary) => more.filter(({ reasons: found }) => found.includes(NO_REASON));
