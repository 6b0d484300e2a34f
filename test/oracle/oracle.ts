/**
 * The command: `npm run oracle -- --seed S --count N`, or `--seconds N`; `--case N` runs one case of a seed again.
 * If an invariant is violated, it prints the seed and the smallest case that still fails, and exits with an error.
 */
import { setTimeout } from 'node:timers/promises';
import { type Case, generateCase } from './generate-case.ts';
import { type Outcome, caseProgress, runCase } from './run-case.ts';
import { compareAll, reasons, unexplained } from './fewest.ts';
import { sharedRedis } from './redis.ts';
import { type Told, compareAllTold, compareShipped } from './told.ts';
import { shrink, sortOf } from './shrink.ts';

const given = new Map<string, string>();
for (let at = 2; at < process.argv.length; at++) {
  const value = process.argv[at + 1];
  const hasValue = value !== undefined && !value.startsWith('--');
  given.set(process.argv[at]!.replace(/^--/, ''), hasValue ? value : '');
  if (hasValue) at++;
}
const number = (name: string, byDefault: number) => Number(given.get(name) ?? byDefault);

const seed = given.get('seed') ?? String(Date.now() % 1_000_000);
const first = number('case', number('from', 0));
const count = given.has('case') ? 1 : number('count', given.has('seconds') ? Infinity : 1_000);
const seconds = number('seconds', Infinity);
/** Stop after this many different failures. */
const most = number('failures', 5);

function caseAt(at: number): Case {
  const made = generateCase(`${seed}/${at}`);
  const faults = {
    ...made.faults,
    ...(given.get('faults') === '0' ? { rate: 0 } : {}),
    ...(given.has('without') ? { without: given.get('without')!.split(',') } : {}),
  };
  return { ...made, faults };
}

/** With `--over origin` only cases over the origin are run, with `--over world` only the others. */
const isWanted = ({ isOverOrigin }: Case): boolean =>
  !given.has('over') || (given.get('over') === 'origin') === isOverOrigin;

function show({ steps, ...rest }: Case): void {
  console.log(`  ${JSON.stringify(rest)}`);
  for (const { operations, isCrossing } of steps)
    for (const { document, variables, person, client } of operations) {
      const who = `${isCrossing ? 'crossing, ' : ''}${person ?? 'nobody'} ${JSON.stringify(client)}`;
      console.log(`  ${who}: ${document.replace(/\s+/g, ' ')} ${JSON.stringify(variables)}`);
    }
}

// Stack traces cost as much as a call. They are kept only when a single case is run.
// The client of a Redis cluster reads them.
if (count > 1 && !given.has('redis')) Error.stackTraceLimit = 0;
// Keep the process alive: the timers of the facade are unreferenced.
const awake = setInterval(() => undefined, 1_000);
const unheard: unknown[] = [];
let isRunning = false;
const hear = (error: unknown): void => {
  if (isRunning) return void unheard.push(error);
  console.error(error); // the oracle itself fails
  process.exit(2);
};
process.on('unhandledRejection', hear);
process.on('uncaughtException', hear);

/** Far longer than a case takes on a busy machine. */
const LONGEST_CASE_MS = 300_000;

async function notEnded(each: Case, signal: AbortSignal): Promise<Outcome> {
  await setTimeout(LONGEST_CASE_MS, undefined, { signal });
  const violations = [{ kind: 'the case does not end', detail: `${caseProgress.at}, of ${each.steps.length} steps` }];
  return { violations, known: [], met: {}, answered: 0, invalid: [] };
}

async function run(each: Case): Promise<Outcome> {
  unheard.length = 0;
  isRunning = true;
  const over = new AbortController();
  const late = notEnded(each, over.signal);
  late.catch(() => undefined);
  const outcome = await Promise.race([runCase(each, replicas), late]);
  over.abort();
  isRunning = false;
  for (const error of unheard)
    outcome.violations.push({
      kind: 'unreported failure',
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  return outcome;
}

if (given.has('told')) await told(number('told', 2_000));

/** `--told 2000`: compares what is said of so many operations, and of those that are shipped, with what happens, and ends. */
async function told(count: number): Promise<never> {
  const runs = [
    ...(first === 0 && !given.has('case') ? await compareShipped() : []),
    ...(await compareAllTold(seed, given.has('case') ? 1 : count, first)),
  ];
  const wrong = runs.filter(({ violations }) => violations.length > 0);
  const kinds = new Map<string, Told[]>();
  for (const run of wrong)
    for (const kind of new Set(run.violations.map((each) => each.kind)))
      kinds.set(kind, [...(kinds.get(kind) ?? []), run]);
  for (const [kind, found] of kinds) {
    console.log(
      `\n${found.length} runs of ${new Set(found.map(({ operation }) => operation)).size} operations: ${kind}`,
    );
    for (const run of found.slice(0, most)) {
      const { detail } = run.violations.find((each) => each.kind === kind)!;
      console.log(`  ${run.seed} ${run.caller}${run.isTierKnown ? ', tier known' : ''}: ${detail}`);
      console.log(
        `    ${run.operation.document.replace(/\s+/g, ' ').slice(0, 600)} ${JSON.stringify(run.operation.variables)}`,
      );
    }
  }
  const cold = runs.filter(({ isTierKnown, caller, isWhole }) => isWhole && (!isTierKnown || caller === 'nobody'));
  const isFull = (run: Told) => run.isFull;
  for (const [what, some] of [
    ['', cold] as const,
    [', where each list is as long as is assumed', cold.filter(isFull)] as const,
  ]) {
    const ratios = some
      .flatMap(({ made, likely }) => (made > 0 && likely !== undefined ? [likely / made] : []))
      .sort((a, b) => a - b);
    const at = (share: number) => ratios[Math.floor(ratios.length * share)]?.toFixed(2);
    console.log(
      `likely calls over those made${what}: median ${at(0.5)}, 90th percentile ${at(0.9)}, lowest ${at(0)}, of ${ratios.length}`,
    );
  }
  if (given.has('verbose'))
    for (const { seed, caller, isFull, made, price, likely = 0, operation } of cold)
      if (made > 0 && price)
        console.log(
          `ratio ${(likely / made).toFixed(2)} ${likely}/${made} of ${price.calls.most}${isFull ? ', full' : ''} ${seed} ${caller} ${operation.document.replace(/\s+/g, ' ')} ${JSON.stringify(operation.variables)}`,
        );
  console.log(
    `seed ${seed}: ${new Set(runs.map(({ operation }) => operation)).size} operations, ${runs.length} runs, ${wrong.length} wrong`,
  );
  process.exit(wrong.length > 0 ? 1 : 0);
}

if (given.has('fewest')) await fewest(number('fewest', 2_000), false);
if (given.has('brute')) await fewest(number('brute', 500), true);

/**
 * `--fewest 2000`: compares the calls of so many queries with those of a planner, and ends; `--brute 500`: of small ones, by brute force.
 * With `--verbose` it shows each with more.
 */
async function fewest(count: number, byForce: boolean): Promise<never> {
  const summary = await compareAll(seed, given.has('case') ? 1 : count, first, byForce);
  const { queries, byReason, byRule, fewer, more } = summary;
  for (const { name, isDefect } of reasons)
    if (byReason.has(name)) console.log(`${byReason.get(name)} queries${isDefect ? ', a defect' : ''}: ${name}`);
  const without = unexplained(summary);
  for (const { seed, person, document, made, fewest, reasons: why } of given.has('verbose') ? more : without) {
    console.log(`\n${seed}, ${person ?? 'nobody'}: ${document.replace(/\s+/g, ' ')}`);
    if (given.has('verbose')) console.log(`  because: ${why.join('; ')}`);
    console.log(`  made: ${made.join(', ')}\n  suffice: ${fewest.map((wave) => wave.join(', ')).join('; then ')}`);
  }
  console.log(
    `seed ${seed}: ${queries} queries, ${without.length} without a reason, ${byRule} by rules, ${fewer} with fewer calls`,
  );
  process.exit(without.length > 0 ? 1 : 0);
}

/** `--replicas 3 --redis server` (or `cluster`): several facades and a Redis between them. */
const replicas = given.has('redis')
  ? { count: number('replicas', 3), redis: await sharedRedis(given.get('redis') === 'cluster') }
  : undefined;

const PROGRESS_MS = 10_000;
const started = performance.now();
const failures = new Map<string, number>();
const invalid = new Set<string>();
const known = new Map<string, number>();
let [cases, answered] = [0, 0];
let shownAt = started;
for (let at = first; at < first + count && failures.size < most; at++) {
  const now = performance.now();
  if (now - started > seconds * 1_000) break;
  if (now - shownAt > PROGRESS_MS) {
    shownAt = now;
    // An interrupted run can be continued with `--from`.
    console.log(`seed ${seed}, next case ${at}: ${progress()}`);
  }
  const made = caseAt(at);
  if (!isWanted(made)) continue;
  const outcome = await run(made);
  cases++;
  answered += outcome.answered;
  for (const each of outcome.known) known.set(each, (known.get(each) ?? 0) + 1);
  for (const each of outcome.invalid) invalid.add(each.slice(0, 100));
  for (const { kind, detail } of outcome.violations) {
    const sort = sortOf(kind);
    failures.set(sort, (failures.get(sort) ?? 0) + 1);
    if (failures.get(sort)! > 1) continue;
    console.log(`\n${kind}\n  --seed ${seed} --case ${at}\n  ${detail.slice(0, 1_000)}`);
    if (given.get('shrink') === 'no') continue;
    console.log('  The smallest case that still fails:');
    show(await shrink(caseAt(at), kind, run));
  }
}
clearInterval(awake);
if (given.has('verbose') && invalid.size > 0) console.log('Could not be run:', [...invalid].slice(0, 20));
for (const [kind, count] of known) console.log(`known, ${count} times: ${kind}`);
console.log(
  `seed ${seed}: ${progress()}, ${answered} operations, ${known.size} known kinds of failure; ${invalid.size} operations could not be run`,
);
process.exit(failures.size > 0 ? 1 : 0);

function progress(): string {
  const took = (performance.now() - started) / 1_000;
  return `${cases} cases in ${took.toFixed(1)} s, ${(cases / took).toFixed(0)} a second, ${failures.size} kinds of failure`;
}
