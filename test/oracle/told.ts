/** Compares what is said of an operation before it runs with what happens: its calls, and the fields that callers are refused. */
import { type FieldNode, Kind, TypeInfo, getOperationAST, parse, print, visit, visitWithTypeInfo } from 'graphql';
import type { Tier } from '../../src/api/endpoint.ts';
import { pagingArgsOf } from '../../src/engine/cost/frame.ts';
import { type Variables, withoutIncremental } from '../../src/engine/plan/document.ts';
import { type PlanViewer, planOperation } from '../../src/engine/plan/plan-operation.ts';
import { type Assess, type Assessment, createAssess } from '../../src/engine/documents/assess.ts';
import {
  type PlannedField,
  type SelectionPlan,
  isIntrospection,
  responseKeyOf,
} from '../../src/engine/plan/operation-plan.ts';
import { mayUse } from '../../src/engine/requirements/requirements.ts';
import {
  type TierRefusals,
  loginRefusals,
  neededSelections,
  tierRefusals,
} from '../../src/engine/requirements/tiers-by-path.ts';
import { schema } from '../../src/graph/schema.ts';
import { type Range, execute, parsed, planOf } from './clients.ts';
import type { CaseOperation } from './generate-case.ts';
import { type Operation_, generateOperation, generatePaths } from './generate-operations.ts';
import type { Shown, Violation } from './invariants.ts';
import { noOddities } from './oddities.ts';
import { APP, openOriginService, originIds } from './origin.ts';
import { FaultyService, type Settings, configOf, openProduct } from './product.ts';
import { createRandom } from './random.ts';
import type { Service } from './service.ts';
import { shipped } from './shipped.ts';
import { people } from './world.ts';

const OWN_TIER = 'advance';
const settings: Settings = {
  ...{ own: { tier: OWN_TIER, isTold: true }, recordTtlSeconds: null, readAttempts: 1, callTimeoutMs: 60_000 },
  ...{ maxUpstreamCalls: 250, isWatched: false, bySockets: false },
};

interface Caller {
  /** Null without a token: the facade sends its own. */
  person: string | null;
  tier: Tier;
}

/** A person of each tier, a program whose token is of no person, and nobody. */
export const callers: readonly Caller[] = [
  ...Object.entries(people).map(([person, tier]) => ({ person, tier })),
  { person: APP, tier: OWN_TIER },
  { person: null, tier: OWN_TIER },
];

/** They show the tier of a token. */
const evidence = [
  '{ subject(id: "1292052") { summary writers { name } } }',
  '{ celebrity(id: "1054521") { birthday } }',
];

/** One run of an operation. */
export interface Told {
  /** Its name, or what it was generated from. */
  seed: string;
  operation: Operation_;
  caller: string;
  /** Whether the facade knew the tier of the caller's token. */
  isTierKnown: boolean;
  made: number;
  /** Every record that the client named exists, and nothing failed. */
  isWhole: boolean;
  /** Each page is full, and each other list as long as it usually is: what is likely assumes that. */
  isFull: boolean;
  price: Assessment['cost'];
  /** Of the caller, by `x-explain: plan`. */
  likely: number | undefined;
  violations: Violation[];
}

const assess: Assess = createAssess(schema, configOf(settings));

/** What is compared of each operation. */
export interface Compared {
  callers: readonly Caller[];
  /** Whether the facade knows the tier of the caller's token. */
  isTierKnown: readonly boolean[];
}
/** By the number of the operation. */
const everything = (_: number): Compared => ({ callers, isTierKnown: [false, true] });

/** Each run over a facade that has cached nothing of the operation, and one service for all callers. */
async function compareTold(operation: Operation_, { callers, isTierKnown }: Compared, seed: string): Promise<Told[]> {
  const service = await openOriginService(settings);
  try {
    const found: Told[] = [];
    for (const caller of callers)
      for (const isKnown of caller.person === null ? [true] : isTierKnown) {
        const told = await compareRun(service, operation, caller, isKnown);
        if (told) found.push({ ...told, seed, operation });
      }
    return found;
  } finally {
    await service.close();
  }
}

/** Of a person without a page nothing is called, so nothing is refused: each person says whether there is one. */
const PAGE = 'page_id';
const page: FieldNode = {
  kind: Kind.FIELD,
  alias: { kind: Kind.NAME, value: PAGE },
  name: { kind: Kind.NAME, value: 'sourceId' },
};

function withPages(document: string): string {
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    SelectionSet: {
      leave: (node) =>
        types.getParentType()?.name === 'Celebrity' ? { ...node, selections: [...node.selections, page] } : undefined,
    },
  });
  return print(visit(parse(document), visitor));
}

/** Undefined for an operation that is not valid. */
async function compareRun(
  service: Service,
  { document: given, variables }: Operation_,
  { person, tier }: Caller,
  isTierKnown: boolean,
): Promise<Omit<Told, 'seed' | 'operation'> | undefined> {
  const document = withPages(given);
  const faulty = new FaultyService(service, { seed: 0, rate: 0 }, noOddities);
  const product = openProduct(faulty, settings);
  const operation: CaseOperation = { document, variables, person, client: { via: 'pipeline' } };
  try {
    if (product.pipeline.prepare(document, undefined).errors) return undefined;
    if (person !== null && isTierKnown)
      for (const shows of evidence)
        await execute(product, { ...operation, document: shows, variables: {} }, 'evidence');
    const range = await planOf(product, operation);
    const result = (await execute(product, operation, 'told'))!;
    const made = faulty.met.filter((met) => met.operation === 'told').length;
    const told = { assessed: assess(document, undefined, variables), always: assess(document), range };
    const run: Run = { operation, tier, isTierKnown, result, made, ...told };
    const violations = [...callsOf(run), ...refusalsOf(run)];
    const caller = person ?? 'nobody';
    const isWhole = !result.errors && !hasNulls(result.data);
    const likely = range?.likely;
    return { caller, isTierKnown, made, isWhole, isFull: isFull(run), likely, price: run.assessed.cost, violations };
  } finally {
    await product.close();
  }
}

interface Run {
  operation: CaseOperation;
  tier: Tier;
  isTierKnown: boolean;
  result: Shown;
  made: number;
  /** With its variables. */
  assessed: Assessment;
  /** Without. */
  always: Assessment;
  /** Of `x-explain: plan`; undefined if it may not run. */
  range: Range | undefined;
}

type ShownError = NonNullable<Shown['errors']>[number];
const codeOf = ({ extensions }: ShownError): string => String(extensions?.code);

/** The limit of the basic tier or of calls, which a single operation may reach; and a wrong argument, whose field makes no call. */
const isCut = ({ errors = [] }: Shown): boolean =>
  errors.some((error) => ['RATE_LIMITED', 'TOO_MANY_CALLS', 'BAD_USER_INPUT'].includes(codeOf(error)));

function callsOf(run: Run): Violation[] {
  const { operation, result, made, assessed, always, range, isTierKnown } = run;
  const found: Violation[] = [];
  const report = (kind: string, detail: string) => found.push({ kind, detail });
  const rejection = result.data === undefined ? result.errors?.map(codeOf)[0] : undefined;
  const toldRejection = assessed.errors[0]?.extensions.code;
  // That is told of a caller with a token whose tier is not known yet, and by the plan of each caller.
  if (rejection !== toldRejection && operation.person !== null && !isTierKnown)
    report('rejected otherwise than told', `${String(toldRejection)} told, ${rejection}`);
  if (always.errors.length > 0 && assessed.errors.length === 0) report('rejected with any variables, and runs', '');
  if ((rejection === 'TOO_MANY_CALLS') !== (range?.limit !== undefined))
    report('rejected otherwise than planned', `${rejection}`);
  if (rejection) return found;
  const { calls: { least = 0, most = 0 } = {} } = assessed.cost ?? {};
  const { calls: any = { least: 0, most: 0 } } = always.cost ?? {};
  if (!range || !assessed.cost || !always.cost) report('not priced', '');
  else {
    if (range.likely < range.min || range.likely > range.max)
      report('likely calls outside the range', `${range.likely}`);
    if (made > range.max) report('more calls than planned', `${made}, ${range.min} to ${range.max}`);
    if (range.max > most) report('more calls planned than priced', `${range.max}, ${least} to ${most}`);
    if (most > any.most) report('more calls priced than checked', `${most}, ${any.least} to ${any.most}`);
    const isWhole = !isCut(result) && !hasNulls(result.data);
    // Below a record that is absent, a wrong argument is not told.
    if (least < any.least && isWhole)
      report('fewer calls priced than checked', `${least}, ${any.least} to ${any.most}`);
    if (isWhole && made < range.min) report('fewer calls than planned', `${made}, ${range.min} to ${range.max}`);
    // `least`: of a caller with a token, if nothing is cached and every record exists.
    if (isWhole && operation.person !== null && !isTierKnown && made < least)
      report('fewer calls than priced', `${made}, ${least} to ${most}`);
  }
  return found;
}

/** Something at the root is absent, or refused. */
const hasNulls = (data: unknown): boolean =>
  data === null ||
  Object.values(data as object).some((each) => each === null || (Array.isArray(each) && each.includes(null)));

function isFull({ operation, tier, result, assessed: { ready } }: Run): boolean {
  if (!ready || typeof result.data !== 'object' || result.data === null) return false;
  const { document, variables, person } = operation;
  const { coerced = {} } = ready.coerce(variables);
  const viewer = { isLoggedIn: person !== null, filmTier: tier };
  const { root } = planWhole(document, viewer, coerced);
  return [...valuesIn(root, result.data, '', '')].every(({ field, value }) => {
    const { usualSize, assumedSize = 0 } = field.rule;
    if (Array.isArray(value)) return value.length >= (usualSize ?? assumedSize);
    if (field.rule.pageSize === undefined || typeof value !== 'object' || value === null) return true;
    const { first, last } = pagingArgsOf(field, coerced);
    const size = last ?? first ?? field.rule.pageSize;
    return Object.values(value).every((items) => !Array.isArray(items) || items.length >= size);
  });
}

/** The plan of the response delivered whole. */
function planWhole(document: string, viewer: PlanViewer, variables: Variables) {
  const whole = withoutIncremental(parsed(document));
  return planOperation(schema, whole, getOperationAST(whole)!, viewer, variables);
}

/** One value of a response. */
interface Shown_ {
  field: PlannedField;
  coordinate: string;
  /** Response keys from the root, without list indexes. */
  path: string;
  /** With them. */
  place: string;
  value: unknown;
}

function* valuesIn(selection: SelectionPlan, object: object, path: string, place: string): Generator<Shown_> {
  for (const field of [selection, ...selection.deferred].flatMap(({ fields }) => fields)) {
    const key = responseKeyOf(field);
    if (!(key in object) || isIntrospection(field)) continue;
    if (PAGE in object && object[PAGE] === null) continue;
    const value = (object as Record<string, unknown>)[key];
    const at = { path: joined(path, key), place: joined(place, key) };
    yield { field, coordinate: `${field.parent}.${field.field.name}`, ...at, value };
    yield* objectsIn(field, value, at.path, at.place);
  }
}

function* objectsIn(field: PlannedField, value: unknown, path: string, place: string): Generator<Shown_> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* objectsIn(field, item, path, joined(place, String(index)));
  else if (typeof value === 'object' && value !== null) {
    const name = (value as { __typename?: string }).__typename;
    const selection = field.selections.get(String(name)) ?? field.onlySelection;
    if (selection) yield* valuesIn(selection, value, path, place);
  }
}

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** Of a person's token the service itself refuses the call of a film. */
const isTierRefusal = (error: ShownError): boolean =>
  codeOf(error) === 'TIER_REQUIRED' ||
  (codeOf(error) === 'FORBIDDEN' && JSON.stringify(error.extensions?.upstream ?? '').includes('/v2/movie/'));

function refusalsOf({
  operation,
  tier,
  isTierKnown,
  result,
  assessed: { ready, requirements, errors },
}: Run): Violation[] {
  if (!ready || !requirements || errors.length > 0 || isCut(result)) return [];
  const found: Violation[] = [];
  const report = (kind: string, detail: string) => found.push({ kind, detail });
  const { document } = operation;
  const { coerced = {} } = ready.coerce(operation.variables);
  const planAs = (isLoggedIn: boolean) => (filmTier: Tier | null) =>
    planWhole(document, { isLoggedIn, filmTier }, coerced).root;
  const isLoggedIn = operation.person !== null;
  // What is told of a tier holds whether it is known or not; of a known tier its own plan says more.
  const planOfKnown = planAs(true);
  const refusals: TierRefusals = tierRefusals(
    isTierKnown ? (known) => planOfKnown(known ?? tier) : planOfKnown,
    coerced,
  );
  const told = new Map((refusals?.get(tier) ?? []).map((field) => [field.path, field]));
  const root = planAs(isLoggedIn)(tier);
  const shown = typeof result.data === 'object' && result.data !== null ? [...valuesIn(root, result.data, '', '')] : [];
  const errorAt = new Map((result.errors ?? []).map((error) => [(error.path ?? []).join('.'), error]));
  const isPerson = operation.person !== null && operation.person !== APP;
  const logins = loginRefusals(planAs(true)(null), coerced);
  const toldLogin = new Map(logins.map((field) => [field.path, field]));
  // Of the items of a list, the same refusal is reported once.
  const refused = new Set((result.errors ?? []).filter(isTierRefusal).map(({ extensions }) => extensions?.coordinate));
  for (const { path, place, value, coordinate, field } of shown) {
    const error = errorAt.get(place);
    const isRefused = error !== undefined && isTierRefusal(error);
    if (told.has(path) && isGot(value)) report('refused, it was told, and got', `${path}`);
    if (told.has(path) && value === null && !error && !refused.has(coordinate) && mayReach(field))
      report('refused, it was told, and null', path);
    if (isRefused && !isToldRefused(told, field, path, coerced)) report('refused, and not told', path);
    if (error && codeOf(error) === 'LOGIN_REQUIRED' && !isToldRefused(toldLogin, field, path, coerced))
      report('a login is required, and not told', path);
    // An update that changes nothing writes nothing, so the service asks for no login.
    const mayWriteNothing = field.rule.readsBefore !== undefined;
    if (!isPerson && toldLogin.has(path) && isGot(value) && !mayWriteNothing)
      report('a login is required, it was told, and got', path);
    const viewer = { isLoggedIn, filmTier: tier };
    if (mayUse(coordinate, schema, viewer) === false && value !== null && value !== undefined && !isEmpty(value))
      report('canUse is false, and it is got', `${coordinate} at ${path}`);
  }
  const isRefusedAny = (result.errors ?? []).some(isTierRefusal);
  if (isRefusedAny && requirements.tiers?.includes(tier) !== false)
    report('the tier gets all, it was told, and does not', '');
  if ((result.errors ?? []).some((error) => codeOf(error) === 'LOGIN_REQUIRED') && !requirements.loginRequired)
    report('no login is required, it was told, and one is', '');
  return found;
}

/** Of `nodes`, each record may be refused. */
const isGot = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.includes(null));

/** Of a record whose lists fail one by one, nothing but the id is there. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(([name, each]) => each === null || /(?:^|_)(?:id|__typename)$/.test(name));

/** A list of nothing, and what has no value for anybody, are null without an error. */
const mayReach = ({ mode }: PlannedField): boolean => mode !== 'null';

/** A record of which nothing is left is refused as a whole; of an object of several types, one of them may be. */
function isToldRefused(
  told: ReadonlyMap<string, unknown>,
  field: PlannedField,
  path: string,
  given: Variables,
): boolean {
  if (told.has(path)) return true;
  return neededSelections(field, given).some((selection) => {
    const inner = [selection, ...selection.deferred].flatMap(({ fields }) => fields);
    // Those that read the id alone do not count.
    const asked = inner.filter(
      ({ mode, needs, field: { name } }) =>
        name !== 'id' && (mode !== 'value' || needs.some((member) => member !== 'id')),
    );
    return (
      asked.length > 0 && asked.every((each) => isToldRefused(told, each, joined(path, responseKeyOf(each)), given))
    );
  });
}

/** A query three times out of four, else a mutation; one in four with `@defer` or `@stream`. */
export function generated(seed: string): Operation_ {
  const random = createRandom(seed);
  const ids = originIds();
  if (random.chance(0.3)) return generatePaths(random, ids)[0]!;
  return generateOperation(random, { ids, isMutation: random.chance(0.15), isDivided: random.chance(0.2) });
}

export async function compareAllTold(seed: string, count: number, from = 0, of = everything): Promise<Told[]> {
  const runs: Told[] = [];
  for (let [at, operations] = [from, 0]; operations < count; at++) {
    const found = await compareTold(generated(`${seed}/${at}`), of(at), `${seed}/${at}`);
    if (found.length === 0) continue;
    operations++;
    runs.push(...found);
  }
  return runs;
}

export async function compareShipped(of = everything): Promise<Told[]> {
  const runs: Told[] = [];
  for (const [at, { name, document, variables }] of shipped().entries())
    runs.push(...(await compareTold({ document, variables }, of(at), name)));
  return runs;
}
