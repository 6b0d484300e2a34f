/** Runs one case against the product and the reference, and reports violations. */
import { exceededCalls } from '../../src/engine/documents/limits.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { type Range, execute, parsed, planOf, tokenFor, wrongWith } from './clients.ts';
import { type Fault, faultOf } from './faults.ts';
import type { CaseOperation, Case, Step } from './generate-case.ts';
import { type Claim, Identities, claimsIn } from './identity.ts';
import { type Expected, type Shown, type Violation, compare, phantomsIn } from './invariants.ts';
import { knownDefect } from './known.ts';
import { openOriginService } from './origin.ts';
import { FaultyService, OWN_TOKEN, type Product, after, configOf, openProduct, senderOf } from './product.ts';
import { type Reference, runReference } from './reference.ts';
import { type Fetch, type Service, openScripted } from './service.ts';
import { createRandom } from './random.ts';
import type { Link, SharedRedis } from './redis-programs.ts';
import { openSockets } from './sockets.ts';
import { createWorld, people, secretsOf } from './world.ts';

export interface Outcome {
  violations: Violation[];
  /** The known defects of violations. */
  known: string[];
  /** Faults of requests of the product, by request. */
  met: Record<string, Fault>;
  /** Number of operations that were run, and the errors of invalid ones. */
  answered: number;
  invalid: string[];
}

/** `redis`: what replicas share; without it there is one process. */
export interface Replicas {
  count: number;
  redis: SharedRedis;
}

/** What the case that runs is at: a case that never ends says so. */
export const caseProgress = { at: '' };

export async function runCase(given: Case, replicas?: Replicas): Promise<Outcome> {
  caseProgress.at = 'its start';
  const run = await CaseRun.open(given, replicas);
  try {
    for (const [at, step] of given.steps.entries()) {
      caseProgress.at = `what happens before step ${at}`;
      await run.event(step, at);
      caseProgress.at = `step ${at}`;
      await run.step(step, at);
    }
    caseProgress.at = 'its rest';
    await run.rest();
  } catch (error) {
    run.report('the run failed', error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await run.close();
  }
  const met: Record<string, Fault> = {};
  for (const { request, fault } of run.service.met) if (fault) met[request] = fault;
  return {
    violations: run.violations.filter((each) => knownDefect(each) === undefined),
    known: run.violations.flatMap((each) => knownDefect(each) ?? []),
    met,
    answered: run.answered,
    invalid: run.invalid,
  };
}

interface Opened {
  products: Product[];
  links: Link[];
  replicas: Replicas | undefined;
}

/** Far longer than a leftover call takes. */
const REST_MS = 3_000;
/** Longer than a lease lasts whose end was lost. */
const LEASE_END_MS = 6_000;
const LEASE_POLL_MS = 20;

/** More than a read needs to reach the service, without a Redis. */
const LATER_TURNS = 20;
/** A killed replica may never reach it. */
const KILL_TURNS = 2_000;
/** What a replica stores takes a round trip to Redis. */
const STORED_MS = 5;

const turns = (many: number) => new Promise<void>((resolve) => after(many, resolve));
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Far longer than a replica takes to notice that its connection is dead, and to make another. */
const CONNECTED_MS = 60_000;

/** Until then, what it invalidates reaches no other replica. */
async function connected({ upstream }: Product): Promise<void> {
  const until = performance.now() + CONNECTED_MS;
  for (let lags = true; lags; await turn()) {
    if (performance.now() > until) throw new Error('a replica does not connect to Redis again');
    const sender = { authorization: undefined, address: '127.0.0.1', requestId: 'connected' };
    const operation = upstream.forOperation(sender, createCancellationToken());
    await operation.invalidate(['connected']);
    lags = operation.replicasMayLag;
  }
}

/** Until it may use Redis again. It asks for nothing: what it knows of epochs must not reach Redis before a reader does. */
async function reachesRedis({ upstream }: Product): Promise<void> {
  const until = performance.now() + CONNECTED_MS;
  for (; !upstream.redis?.()?.isReachable; await turn())
    if (performance.now() > until) throw new Error('a replica does not reach Redis again');
}

type RedisEvent =
  'nothing' | 'kill' | 'cut' | 'scripts' | 'eviction' | 'failover' | 'restored' | 'half-open' | 'slow' | 'moving';

const isWrite = ({ operations }: Step): boolean => operations.some(({ document }) => document.startsWith('mutation'));

/** The same for each run of a case. A Redis that was restored matters most after a write. */
function eventBefore(steps: readonly Step[], seed: number, at: number): RedisEvent {
  const isAfterWrite = at > 0 && isWrite(steps[at - 1]!);
  return createRandom(`${seed} event ${at}`).weighted<RedisEvent>([
    [24, 'nothing'],
    [1, 'kill'],
    [2, 'cut'],
    [1, 'scripts'],
    [3, 'eviction'],
    [2, 'failover'],
    [isAfterWrite ? 20 : 1, 'restored'],
    [1, 'half-open'],
    [2, 'slow'],
    [2, 'moving'],
  ]);
}

class CaseRun {
  readonly violations: Violation[] = [];
  readonly invalid: string[] = [];
  /** One, or several replicas. */
  private readonly products: Product[];
  private readonly links: Link[];
  private readonly killed: Product[] = [];
  /** Ends what disturbs a replica or its Redis. */
  private endOfDisturbance: (() => Promise<unknown>) | undefined = undefined;
  /** Of this case. */
  private hasSnapshot = false;
  /** What a replica wrote last may be lost. */
  private isDisturbed = false;
  private readonly replicas: Replicas | undefined;
  answered = 0;
  /** What each person has read since the last write. */
  private readonly identities = new Map<string | null, Identities>();
  /** The operation before, if it read alone and without a token. */
  private read: { text: string; books: readonly string[] } | undefined = undefined;
  private readonly given: Case;
  private readonly behind: Service;
  readonly service: FaultyService;

  private constructor(given: Case, behind: Service, service: FaultyService, opened: Opened) {
    this.given = given;
    this.behind = behind;
    this.service = service;
    this.products = opened.products;
    this.links = opened.links;
    this.replicas = opened.replicas;
  }

  static async open(given: Case, replicas?: Replicas): Promise<CaseRun> {
    const { isOverOrigin, worldSeed, manners, oddities, settings, faults } = given;
    const behind = isOverOrigin
      ? await openOriginService(settings)
      : openScripted(createWorld(worldSeed), manners, settings);
    const service = new FaultyService(behind, faults, oddities);
    if (!replicas) {
      const product = settings.bySockets ? await openSockets(service, settings) : openProduct(service, settings);
      return new CaseRun(given, behind, service, { products: [product], links: [], replicas });
    }
    await replicas.redis.clear();
    const links = await Promise.all(Array.from({ length: replicas.count }, () => replicas.redis.link()));
    const products = links.map((link, place) => openProduct(service, settings, link, place));
    await Promise.all(products.map(connected));
    return new CaseRun(given, behind, service, { products, links, replicas });
  }

  /** Each operation is sent to a replica at random. */
  private at(requestId: string): Product {
    const { products, given } = this;
    return products.length === 1 ? products[0]! : createRandom(`${given.faults.seed} at ${requestId}`).pick(products);
  }

  /** What may happen to replicas and their Redis, before a step. */
  async event(step: Step, at: number): Promise<void> {
    if (!this.replicas) return;
    const { redis } = this.replicas;
    const { steps, faults } = this.given;
    await this.calmDown();
    const random = createRandom(`${faults.seed} event of ${at}`);
    const place = random.int(0, this.products.length - 1);
    const happens = eventBefore(steps, faults.seed, at);
    if (happens === 'scripts') await redis.loseScripts();
    if (happens === 'eviction') await redis.evictNotes();
    if (happens === 'kill') await this.kill(place, step, at);
    if (happens === 'cut') await this.cut(place);
    if (happens === 'failover') await this.lose(redis.failOver);
    if (happens === 'restored' && this.hasSnapshot) await this.lose(redis.restore, reachesRedis);
    if (happens === 'half-open') this.goSilent(place);
    if (happens === 'slow') this.slowDown(place, random.pick([100, 300]));
    if (happens === 'moving') await this.moveSlot();
    if (isWrite(step)) await this.calmDown();
    const isRestored = steps.some((_, later) => later > at && eventBefore(steps, faults.seed, later) === 'restored');
    // Of a write, the state before it.
    if (isRestored && redis.keepSnapshot && (isWrite(step) || random.chance(0.6))) {
      await redis.keepSnapshot();
      this.hasSnapshot = true;
    }
  }

  /** Redis loses what was written last, or some of it. */
  private async lose(act: (() => Promise<void>) | undefined, isBack = connected): Promise<void> {
    if (!act) return;
    this.isDisturbed = true;
    await act();
    await Promise.all(this.products.map(isBack));
  }

  /** The replica has to notice by itself that its connection is dead. */
  private goSilent(place: number): void {
    const product = this.products[place]!;
    const { goSilent } = this.links[place]!;
    if (!goSilent) return;
    goSilent();
    this.disturb(() => connected(product));
  }

  private slowDown(place: number, ms: number): void {
    const product = this.products[place]!;
    const { delayReplies } = this.links[place]!;
    if (!delayReplies) return;
    delayReplies(ms);
    this.disturb(() => (delayReplies(0), connected(product)));
  }

  private async moveSlot(): Promise<void> {
    const finish = await this.replicas!.redis.moveSlot?.();
    if (!finish) return;
    this.disturb(async () => {
      await finish();
      await Promise.all(this.products.map(connected));
    });
  }

  private disturb(end: () => Promise<unknown>): void {
    this.isDisturbed = true;
    this.endOfDisturbance = end;
  }

  /** Meanwhile a replica cannot tell others of a write: only reads are right then. */
  private async calmDown(): Promise<void> {
    const end = this.endOfDisturbance;
    this.endOfDisturbance = undefined;
    await end?.();
  }

  /** Until the replica is connected again, what it invalidates reaches no other; so the case goes on then. */
  private async cut(place: number): Promise<void> {
    this.isDisturbed = true;
    await this.links[place]!.cut();
    await new Promise((resolve) => setTimeout(resolve, 10));
    await connected(this.products[place]!);
  }

  /** Kills a replica that reads what the step reads, and opens another in its place. */
  private async kill(place: number, { operations: [read] }: Step, at: number): Promise<void> {
    const { redis } = this.replicas!;
    const product = this.products[place]!;
    let held: ReturnType<FaultyService['hold']> | undefined;
    if (read && !read.document.startsWith('mutation') && !wrongWith(product, read)) {
      held = this.service.hold(`${at}-killed`);
      const ended = execute(product, read, `${at}-killed`).catch(() => undefined);
      await Promise.race([held.reached, ended, turns(KILL_TURNS)]);
    }
    this.isDisturbed = true;
    await product.kill?.();
    held?.release();
    this.killed.push(product);
    const link = await redis.link();
    this.links[place] = link;
    this.products[place] = openProduct(this.service, this.given.settings, link, place);
    await connected(this.products[place]);
  }

  async close(): Promise<void> {
    caseProgress.at = 'the end of its facades';
    await Promise.all([...this.products, ...this.killed].map((product) => product.close()));
    caseProgress.at = 'the end of its service';
    await this.behind.close();
    for (const failure of this.behind.failures()) this.report('a failure inside the service', failure);
  }

  report(kind: string, detail: string): void {
    this.violations.push({ kind, detail });
  }

  async step({ operations, isCrossing }: Step, at: number): Promise<void> {
    const valid = operations.filter((operation) => {
      const wrong = wrongWith(this.products[0]!, operation);
      if (wrong) this.invalid.push(`${wrong}: ${operation.document}`);
      return !wrong;
    });
    if (valid.length < operations.length) return;
    if (isCrossing) return this.crossing(operations, at);
    const alone = operations.length === 1;
    await Promise.all(operations.map((operation, index) => this.operation(operation, `${at}-${index}`, alone)));
  }

  /** A read that began before a write need not show its effect. Its response comes before or after the next read begins. */
  private async crossing(operations: CaseOperation[], at: number): Promise<void> {
    const [read, write, again] = operations;
    if (!read || !write || !again) return;
    const held = this.service.hold(`${at}-0`);
    const early = execute(this.at(`${at}-0`), read, `${at}-0`);
    await Promise.race([held.reached, early]);
    await this.operation(write, `${at}-1`, false);
    const comesFirst = createRandom(`${this.given.faults.seed} crossing ${at}`).chance(0.5);
    if (comesFirst) {
      held.release();
      await early;
      if (this.replicas) await new Promise((resolve) => setTimeout(resolve, STORED_MS));
    }
    const later = this.operation(again, `${at}-2`, false);
    await turns(LATER_TURNS);
    held.release();
    await later;
    const result = await early;
    if (result) this.private(read, result);
  }

  private async operation(operation: CaseOperation, requestId: string, isAlone: boolean): Promise<void> {
    const product = this.at(requestId);
    const reference = await this.reference(operation);
    // Calls of an earlier operation may be shared, so the minimum does not hold.
    if (isAlone) await new Promise((resolve) => setImmediate(resolve)); // so that what earlier responses showed of the token is known
    const isUnshared = isAlone && this.service.pending === 0 && this.busy().length === 0;
    const range = await planOf(product, operation);
    const began = performance.now();
    const result = await execute(product, operation, requestId);
    const tookMs = performance.now() - began;
    this.writes(operation, requestId, reference);
    if (operation.document.startsWith('mutation')) this.identities.clear();
    if (!result) {
      // The client disconnected. Its writes go on: what is read meanwhile may show them or not.
      if (operation.document.startsWith('mutation')) await this.untilIdle();
      return;
    }
    this.answered++;
    this.private(operation, result);
    if (this.isOverLimit(operation, requestId, range, result)) return;
    if (reference.isCut) {
      this.report('run with more fields than the reference reads', operation.document);
      return;
    }
    if (range && isUnshared) this.calls(operation, requestId, range, result);
    this.rereads(operation, requestId, isAlone);
    const { faults, settings } = this.given;
    // On a busy machine a call may take longer than the short timeout of cases with faults.
    const isBusy = settings.callTimeoutMs < 1_000 && tookMs >= settings.callTimeoutMs;
    const wasRefused = this.service.met.some(({ fault }) => fault === 'rateLimit');
    const hasMetLimit = wasRefused || this.service.met.length > 15;
    // Everything else of the case may be refused then.
    const isPaused = this.service.met.some(({ asksForLongWait }) => asksForLongWait);
    const expected: Expected = {
      reference,
      faultOf: (request) => faultOf(faults, request),
      wasSent: (request) => this.service.met.some((met) => met.operation === requestId && met.request === request),
      wasEverSent: (request) => this.service.met.some((met) => met.request === request),
      sentWindowsOf: (request) =>
        this.service.met.flatMap((met) =>
          met.operation === requestId && listOf(met.request) === listOf(request) ? [met.request] : [],
        ),
      ignoresWindows: this.given.manners.ignoresWindows || this.given.manners.ignoresStarts,
      isPaused: isPaused || wasRefused,
      isExcused: (code) =>
        ((hasMetLimit || isPaused) && code === 'RATE_LIMITED') ||
        (isPaused && code === 'UPSTREAM_UNAVAILABLE') ||
        (code === 'TOO_MANY_CALLS' && range !== undefined && range.max > settings.maxUpstreamCalls) ||
        (operation.person === 'stranger' && code === 'UNAUTHENTICATED') ||
        (code === 'UPSTREAM_TIMEOUT' && settings.callTimeoutMs < 1_000) ||
        (code === 'UPSTREAM_RESULT_UNKNOWN' && isBusy),
    };
    this.violations.push(...compare(expected, result), ...phantomsIn(expected, result));
    this.identity(operation, expected, result);
  }

  /** An object has one value in each field, whatever else was read since the last write. A value that a fault may change claims nothing. */
  private identity({ document, variables, person }: CaseOperation, expected: Expected, result: Shown): void {
    const identities = this.identities.get(person) ?? new Identities();
    this.identities.set(person, identities);
    const { reference, faultOf } = expected;
    const hasFault = (path: string): boolean =>
      [...(reference.places.get(path)?.requests ?? [])].some((request) => faultOf(request) !== undefined) ||
      (path.includes('.') && hasFault(path.slice(0, path.lastIndexOf('.'))));
    // A payload is from before the next write of its operation.
    if (document.startsWith('mutation') && Object.keys(result.data ?? {}).length > 1) return;
    // Beside a page past it, a total is not known.
    const isUnknown = ({ coordinate, value }: Claim): boolean =>
      expected.ignoresWindows && value === 'null' && coordinate.endsWith('.totalCount');
    const claims = claimsIn({ document: parsed(document), variables }, result).filter(
      (claim) => !hasFault(claim.path) && !isUnknown(claim),
    );
    for (const { key, coordinate, value, path, before } of identities.add(claims, document))
      this.report(
        `two values: ${coordinate}`,
        `${key} is ${value} at ${path} of ${document}; it is ${before.value} at ${before.path} of ${before.source}`,
      );
  }

  private reference(operation: CaseOperation): Promise<Reference> {
    const { settings, faults } = this.given;
    const { personsOf, isAbout } = this.behind;
    const token = tokenFor(operation);
    const sender = senderOf(token, settings);
    const own = settings.own;
    const requester = {
      token,
      tier: token === undefined && own ? own.tier : sender === 'unknown' ? ('basic' as const) : sender.tier,
      accessToken: own ? OWN_TOKEN : undefined,
      filmTier: own?.isTold ? own.tier : undefined,
      person: operation.person,
      personsOf,
      isOwn: (text: string) => operation.person !== null && isAbout(operation.person, text),
    };
    return this.behind.apart((respond) => {
      const fetch: Fetch = (request) => {
        if (request.method === 'GET') return respond(request);
        const fault = faultOf(faults, `${request.method} ${request.path}`);
        if (fault && fault !== 'lost' && fault !== 'notJson') throw new Error(`a write failed by ${fault}`);
        const answer = respond(request);
        if (fault) throw new Error(`a write failed by ${fault}`);
        return answer;
      };
      return runReference(parsed(operation.document), undefined, operation.variables, requester, fetch);
    });
  }

  /** No write may be made more often than the operation requests. */
  private writes({ document }: CaseOperation, requestId: string, reference: Reference): void {
    const made = this.service.met.filter(({ operation, line }) => operation === requestId && !line.startsWith('GET '));
    const left = [...reference.writes];
    for (const { line } of made) {
      const place = left.indexOf(line);
      if (place < 0) this.report('a write too many', `${line} of ${document}`);
      else left.splice(place, 1);
    }
  }

  /** Exactly the operations beyond the limit of calls are rejected, by their plan, before any call. */
  private isOverLimit(
    { document }: CaseOperation,
    requestId: string,
    range: Range | undefined,
    result: Shown,
  ): boolean {
    const { maxUpstreamCalls } = this.given.settings;
    const made = this.service.met.filter(({ operation }) => operation === requestId).length;
    if (made > maxUpstreamCalls && this.given.settings.readAttempts === 1)
      this.report('more calls than the limit', `${made} calls, at most ${maxUpstreamCalls}: ${document}`);
    const codes = (result.errors ?? []).filter(({ path }) => !path).map(({ extensions }) => String(extensions?.code));
    const isOver = range && exceededCalls(range, document.startsWith('mutation'), configOf(this.given.settings));
    if (isOver && made > 0)
      this.report(
        'run past its limit',
        `planned ${range.min} to ${range.max} calls, at most ${maxUpstreamCalls}: ${document}`,
      );
    if (range && !isOver && codes.includes('TOO_MANY_CALLS'))
      this.report(
        'rejected within its limit',
        `planned ${range.min} to ${range.max} calls, ${range.likely} likely, at most ${maxUpstreamCalls}: ${document}`,
      );
    return codes.some((code) => code.startsWith('TOO_MANY_'));
  }

  private calls({ document }: CaseOperation, requestId: string, { min, max }: Range, result: Shown): void {
    if (this.given.settings.readAttempts > 1) return;
    const made = this.service.met.filter(({ operation }) => operation === requestId).length;
    if (made > max) this.report('more calls than planned', `${made} calls, planned ${min} to ${max}: ${document}`);
    // A token that the service has refused is not sent again.
    const cuts = ['RATE_LIMITED', 'TOO_MANY_CALLS', 'UNAUTHENTICATED'];
    const isCut = result.errors?.some(({ extensions }) => cuts.includes(String(extensions?.code)));
    // While the service asks for a pause, a reload shows what is cached, and whether a person exists may not be asked.
    const isPaused = this.service.met.some((each) => each.asksForLongWait);
    // An absent record ends its part of the operation; calls that still wait for a connection are not made.
    const isAbsent = Object.values(result.data ?? {})
      .flat()
      .includes(null);
    // What another replica stored may reach Redis after the plan: a script that Redis lacks takes one more round trip.
    if (made < min && !isCut && !isPaused && !isAbsent && !this.replicas)
      this.report('fewer calls than planned', `${made} calls, planned ${min} to ${max}: ${document}`);
  }

  /** What nobody signed in for is cached: the same operation right after another requests no book again, nor that it is absent. */
  private rereads({ document, variables, person, client }: CaseOperation, requestId: string, isAlone: boolean): void {
    const { settings, faults, manners, isOverOrigin } = this.given;
    const before = this.read;
    const text = JSON.stringify([document, variables]);
    const books = this.service.met.filter(({ operation }) => operation === requestId).map(({ request }) => request);
    const isKept = isAlone && person === null && client.leavesAfter === undefined && !document.startsWith('mutation');
    this.read = isKept ? { text, books } : undefined;
    if (client.isReload) return;
    if (settings.recordTtlSeconds === 0 || faults.rate > 0 || this.replicas) return;
    if (!this.read || before?.text !== text || (manners.caching === 'varying' && !isOverOrigin)) return;
    const again = books.find((request) => /^GET \/v2\/book\/\d+$/.test(request) && before.books.includes(request));
    if (again) this.report('a cached record was requested again', `${again}: ${document}`);
  }

  /** No response may contain private data of another person. */
  private private({ person, document }: CaseOperation, result: Shown): void {
    const text = JSON.stringify(result);
    for (const other of Object.keys(people)) {
      if (other === person) continue;
      const secret = secretsOf(other).find((each) => text.includes(each));
      if (secret) this.report(`returned to another person`, `${secret} to ${person}: ${document}`);
    }
  }

  /** Until no call is under way, or for so long. */
  private async untilIdle(): Promise<void> {
    for (const until = performance.now() + REST_MS; performance.now() < until; await turn())
      if (this.service.pending === 0 && this.busy().length === 0) break;
  }

  /** Counters that are not zero, of all replicas. */
  private busy(): [string, number][] {
    return this.products.flatMap((product) => Object.entries(product.busy()));
  }

  /** Entries that more than one person may read. A lease is given up when its response is stored or of no use, and ends by itself if that is lost. */
  private async entriesInRedis(): Promise<string[]> {
    if (!this.replicas) return [];
    const { redis } = this.replicas;
    const leases = (all: Map<string, string>) => [...all.keys()].filter((key) => key.includes(':lease:'));
    const until = performance.now() + (this.isDisturbed ? LEASE_END_MS : REST_MS);
    let all = await redis.dump();
    while (leases(all).length > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LEASE_POLL_MS));
      all = await redis.dump();
    }
    for (const lease of leases(all)) this.report('a lease is never given up', lease);
    return [...all].flatMap(([key, value]) => (key.includes(':entry:tier ') ? [] : [value]));
  }

  /** After all operations nothing may be left running. */
  async rest(): Promise<void> {
    await this.calmDown();
    const { products } = this;
    // A call whose result is no longer needed runs until its own deadline.
    const { service } = this;
    await Promise.all(products.map((product) => product.leave()));
    await this.untilIdle();
    const mayLeave = this.given.steps.some(({ operations }) =>
      operations.some(({ client }) => client.leavesAfter !== undefined),
    );
    if (!this.replicas && !mayLeave && service.tooEarly.length > 0)
      this.report('a call although the service asked for a pause', service.tooEarly.join(', '));
    if (service.pending > 0) this.report('a request is still under way', `${service.pending}`);
    for (const [what, value] of this.busy()) this.report(`not at rest: ${what}`, String(value));
    for (const kept of [...products.flatMap(({ shared }) => shared), ...(await this.entriesInRedis())])
      for (const person of Object.keys(people)) {
        const secret = secretsOf(person).find((each) => kept.includes(each));
        if (secret) this.report('private in the shared cache', `${secret} in ${kept.slice(0, 200)}`);
      }
  }
}

/** A request without its window and its variant. */
const listOf = (request: string): string =>
  request.replace(/([?&])(?:count|start|max-results|start-index|format)=[^&]*/g, '$1').replace(/[?&]+$/, '');
