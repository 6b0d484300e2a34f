/** Runs one case against the product and the reference, and reports violations. */
import { type Range, execute, parsed, planOf, tokenFor, wrongWith } from './clients.ts';
import { type Fault, faultOf } from './faults.ts';
import type { CaseOperation, Case, Step } from './generate-case.ts';
import { type Shown, type Violation, compare } from './invariants.ts';
import { isKnown } from './known.ts';
import { openOriginService } from './origin.ts';
import { FaultyService, OWN_TOKEN, type Product, after, openProduct, senderOf } from './product.ts';
import { type Reference, runReference } from './reference.ts';
import { type Fetch, type Service, openScripted } from './service.ts';
import { openSockets } from './sockets.ts';
import { createWorld, people, secretsOf } from './world.ts';

export interface Outcome {
  violations: Violation[];
  /** Number of violations by known defects. */
  known: number;
  /** Faults of requests of the product, by request. */
  met: Record<string, Fault>;
  /** Number of operations that were run, and the errors of invalid ones. */
  answered: number;
  invalid: string[];
}

export async function runCase(given: Case): Promise<Outcome> {
  const run = await CaseRun.open(given);
  try {
    for (const [at, step] of given.steps.entries()) await run.step(step, at);
    await run.rest();
  } catch (error) {
    run.report('the run failed', error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await run.close();
  }
  const met: Record<string, Fault> = {};
  for (const { request, fault } of run.service.met) if (fault) met[request] = fault;
  const violations = run.violations.filter((each) => !isKnown(each));
  return {
    violations,
    known: run.violations.length - violations.length,
    met,
    answered: run.answered,
    invalid: run.invalid,
  };
}

/** Far longer than a leftover call takes. */
const REST_MS = 3_000;

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

class CaseRun {
  readonly violations: Violation[] = [];
  readonly invalid: string[] = [];
  readonly product: Product;
  answered = 0;
  private readonly given: Case;
  private readonly behind: Service;
  readonly service: FaultyService;
  private readonly slow: Set<string>;

  private constructor(given: Case, behind: Service, service: FaultyService, slow: Set<string>, product: Product) {
    this.given = given;
    this.behind = behind;
    this.service = service;
    this.slow = slow;
    this.product = product;
  }

  static async open(given: Case): Promise<CaseRun> {
    const { isOverOrigin, worldSeed, manners, settings, faults } = given;
    const behind = isOverOrigin
      ? await openOriginService(settings)
      : openScripted(createWorld(worldSeed), manners, settings);
    const slow = new Set<string>();
    const service = new FaultyService(behind, faults, slow);
    const product = settings.bySockets ? await openSockets(service, settings) : openProduct(service, settings);
    return new CaseRun(given, behind, service, slow, product);
  }

  async close(): Promise<void> {
    await this.product.close();
    await this.behind.close();
    for (const failure of this.behind.failures()) this.report('a failure inside the service', failure);
  }

  report(kind: string, detail: string): void {
    this.violations.push({ kind, detail });
  }

  async step({ operations, isCrossing }: Step, at: number): Promise<void> {
    const valid = operations.filter((operation) => {
      const wrong = wrongWith(this.product, operation);
      if (wrong) this.invalid.push(`${wrong}: ${operation.document}`);
      return !wrong;
    });
    if (valid.length < operations.length) return;
    if (isCrossing) return this.crossing(operations, at);
    const alone = operations.length === 1;
    await Promise.all(operations.map((operation, index) => this.operation(operation, `${at}-${index}`, alone)));
  }

  /** A read that began before a write need not show its effect. */
  private async crossing(operations: CaseOperation[], at: number): Promise<void> {
    const [read, write, again] = operations;
    if (!read || !write || !again) return;
    this.slow.add(`${at}-0`);
    const early = execute(this.product, read, `${at}-0`);
    await new Promise<void>((resolve) => after(4, resolve));
    await this.operation(write, `${at}-1`, false);
    await this.operation(again, `${at}-2`, false);
    const result = await early;
    if (result) this.private(read, result);
  }

  private async operation(operation: CaseOperation, requestId: string, isAlone: boolean): Promise<void> {
    const { product } = this;
    const reference = await this.reference(operation);
    // Calls of an earlier operation may be shared, so the minimum does not hold.
    if (isAlone) await new Promise((resolve) => setImmediate(resolve)); // so that what earlier responses showed of the token is known
    const isUnshared = isAlone && this.service.pending === 0 && Object.keys(product.busy()).length === 0;
    const range = await planOf(product, operation);
    const began = performance.now();
    const result = await execute(product, operation, requestId);
    const tookMs = performance.now() - began;
    this.writes(operation, requestId, reference);
    if (!result) return; // the client disconnected
    this.answered++;
    this.private(operation, result);
    if (this.isOverLimit(operation, requestId, range, result)) return;
    if (range && isUnshared) this.calls(operation, requestId, range, result);
    const { faults, settings } = this.given;
    // On a busy machine a call may take longer than the short timeout of cases with faults.
    const isBusy = settings.callTimeoutMs < 1_000 && tookMs >= settings.callTimeoutMs;
    const hasMetLimit = this.service.met.some(({ fault }) => fault === 'rateLimit') || this.service.met.length > 15;
    const found = compare(
      {
        reference,
        faultOf: (request) => faultOf(faults, request),
        isExcused: (code) =>
          (hasMetLimit && code === 'RATE_LIMITED') ||
          (operation.person === 'stranger' && code === 'UNAUTHENTICATED') ||
          (code === 'UPSTREAM_TIMEOUT' && settings.callTimeoutMs < 1_000) ||
          (code === 'UPSTREAM_RESULT_UNKNOWN' && isBusy),
      },
      result,
    );
    this.violations.push(...found);
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
    const { maxUpstreamCalls } = this.product.config;
    const made = this.service.met.filter(({ operation }) => operation === requestId).length;
    if (made > maxUpstreamCalls && this.given.settings.readAttempts === 1)
      this.report('more calls than the limit', `${made} calls, at most ${maxUpstreamCalls}: ${document}`);
    const codes = (result.errors ?? []).filter(({ path }) => !path).map(({ extensions }) => String(extensions?.code));
    if (range && range.max > maxUpstreamCalls && made > 0)
      this.report(
        'run past its limit',
        `planned ${range.min} to ${range.max} calls, at most ${maxUpstreamCalls}: ${document}`,
      );
    if (range && range.max <= maxUpstreamCalls && codes.includes('TOO_MANY_CALLS'))
      this.report(
        'rejected within its limit',
        `planned ${range.min} to ${range.max} calls, at most ${maxUpstreamCalls}: ${document}`,
      );
    return codes.some((code) => code.startsWith('TOO_MANY_'));
  }

  private calls({ document }: CaseOperation, requestId: string, { min, max }: Range, result: Shown): void {
    if (this.given.settings.readAttempts > 1) return;
    const made = this.service.met.filter(({ operation }) => operation === requestId).length;
    if (made > max) this.report('more calls than planned', `${made} calls, planned ${min} to ${max}: ${document}`);
    const isCut = result.errors?.some(({ extensions }) => extensions?.code === 'RATE_LIMITED');
    // An absent record ends its part of the operation; calls that still wait for a connection are not made.
    const isAbsent = Object.values(result.data ?? {}).includes(null);
    if (made < min && !isCut && !isAbsent)
      this.report('fewer calls than planned', `${made} calls, planned ${min} to ${max}: ${document}`);
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

  /** After all operations nothing may be left running. */
  async rest(): Promise<void> {
    const { product } = this;
    // A call whose result is no longer needed runs until its own deadline.
    const { service } = this;
    await product.leave();
    for (const until = performance.now() + REST_MS; performance.now() < until; await turn())
      if (service.pending === 0 && Object.keys(product.busy()).length === 0) break;
    if (service.pending > 0) this.report('a request is still under way', `${service.pending}`);
    for (const [what, value] of Object.entries(product.busy())) this.report(`not at rest: ${what}`, String(value));
    for (const kept of product.shared)
      for (const person of Object.keys(people)) {
        const secret = secretsOf(person).find((each) => kept.includes(each));
        if (secret) this.report('private in the shared cache', `${secret} in ${kept.slice(0, 200)}`);
      }
  }
}
