/**
 * Mutation score of the engine and the upstream layer: changes one place of the source at a time and checks whether a test fails.
 *
 *   node scripts/mutation.mjs [--sample 200] [--seed 1] [--only src/upstream/limits/semaphore.ts] [--out results.json] [--first-pass] [--jobs 2]
 *
 * Three passes, the fastest first; each runs only the mutants that the one before did not detect:
 *
 * oracle     some seconds each
 * tests      the tests of the folder that mirrors the mutant's, then those of graph, engine and upstream
 * journeys   the slow tests, with many mutants at once, because few of them are detected: if a test fails, each half runs alone
 *
 * A failure of a test counts if it is repeated. A mutant that no pass detects survives and is listed with its place, for review. With --out a
 * run continues where another stopped; --first-pass ends it after the oracle. The seed decides the sample; without --sample all mutants run,
 * which takes hours. Each job works in a temporary copy of the tree, deleted at the end.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    out: { type: 'string' },
    cases: { type: 'string', default: '300' },
    'first-pass': { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
});

/** The operator that replaces another, as in a likely mistake. */
const operators = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};

/** Longer runs are stopped and count as failed: the mutant made the code wait or loop. Without a mutant all tests take a minute, and one test 8 s. */
const ORACLE_MS = 120_000;
const TESTS_MS = 300_000;
const TEST_MS = 60_000;

/** The tests of mutants that the oracle does not detect. test/server/features/mcp is among them, because the engine makes the tools of agents. */
const quickTests = ['test/graph', 'test/engine', 'test/upstream', 'test/server/features/mcp'];
const slowTests = ['test/journey', 'test/hostile/upstream.slow.test.ts'];

/** The engine and the whole upstream layer; domains are declarations, which the tests of the origin cover. */
const mutated = (
  options.only ?? [
    ...['values', 'plan', 'fields', 'execute', 'cost'].flatMap((room) => filesIn(`src/engine/${room}`)),
    ...filesIn('src/upstream'),
  ]
).filter((path) => readFileSync(join(root, path), 'utf8').length > 0);

const mutants = mutated.flatMap(mutantsOf);
const drawn = options.sample ? sampleOf(mutants, Number(options.sample), Number(options.seed)) : mutants;

const copies = Array.from({ length: Number(options.jobs) }, copyOfTree);
process.on('exit', () => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true })));
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

/** A pass is null if nothing failed; it is missing if it has not run. */
const isResumed = options.out !== undefined && existsSync(options.out);
const results = isResumed ? JSON.parse(readFileSync(options.out, 'utf8')) : drawn;
const isKilled = ({ oracle, tests, journeys }) => Boolean(oracle ?? tests ?? journeys);

if (!isResumed) {
  const tests = options['first-pass'] ? [] : [...quickTests, ...slowTests];
  const failing =
    (await failedOracle(copies[0])) ?? (tests.length > 0 ? await failedTest(copies[0], tests) : undefined);
  if (failing) throw new Error(`Without any mutant this fails: ${failing}`);
}
await runAll('oracle', failedOracle);
if (!options['first-pass']) {
  await runAll('tests', failedTestFor, 'oracle');
  await runTogether(copies[0], waitingFor('journeys', 'tests'));
}

const decided = results.filter((each) => isKilled(each) || each.journeys === null);
const killed = results.filter(isKilled).length;
console.log(
  `${mutants.length} mutants, ${decided.length} of ${results.length} decided, ${killed} killed: ${((100 * killed) / decided.length).toFixed(1)} %`,
);
for (const { path, line, from, to } of results.filter(({ journeys }) => journeys === null))
  console.log(`survived: ${path}:${line} ${oneLine(from)} -> ${oneLine(to)}`);

function waitingFor(pass, previous) {
  return results.filter((each) => each[pass] === undefined && (previous === undefined || each[previous] === null));
}

/** Runs a pass for the mutants, each in the next copy that is free. */
async function runAll(pass, failureIn, previous) {
  const waiting = waitingFor(pass, previous);
  const next = async (copy) => {
    for (let mutant; (mutant = waiting.shift());)
      note(pass, mutant, await mutating(copy, [mutant], () => failureIn(copy, mutant.path)));
  };
  await Promise.all(copies.map(next));
}

/** Runs the slow tests with all these mutants; if one fails, with each half of them. */
async function runTogether(copy, group) {
  if (group.length === 0) return;
  const isSplit = group.some((a) =>
    group.some((b) => a !== b && a.path === b.path && a.start < b.end && b.start < a.end),
  );
  const failure = isSplit ? 'overlap' : await mutating(copy, group, () => failedTest(copy, slowTests));
  if (group.length === 1 || !failure) {
    for (const mutant of group) note('journeys', mutant, failure);
    return;
  }
  const middle = Math.ceil(group.length / 2);
  await runTogether(copy, group.slice(0, middle));
  await runTogether(copy, group.slice(middle));
}

/** Writes the mutants into the copy while `run` runs. */
async function mutating(copy, group, run) {
  const texts = new Map();
  for (const { path, start, end, to } of group.toSorted((a, b) => b.start - a.start)) {
    const file = join(copy, path);
    const text = readFileSync(file, 'utf8');
    if (!texts.has(file)) texts.set(file, text);
    writeFileSync(file, text.slice(0, start) + to + text.slice(end));
  }
  const result = await run();
  for (const [file, text] of texts) writeFileSync(file, text);
  return result;
}

function note(pass, mutant, failure) {
  mutant[pass] = failure ?? null;
  const { path, line, from, to } = mutant;
  console.log(`${pass} ${path}:${line} ${oneLine(from)} -> ${oneLine(to)}: ${failure ?? 'passes'}`);
  if (options.out) writeFileSync(options.out, JSON.stringify(results, null, 1));
}

function copyOfTree() {
  const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
  for (const name of execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean))
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/** How the oracle fails in the copy; undefined if it passes. */
async function failedOracle(copy) {
  const built = await ended(copy, ORACLE_MS, ['build.mjs', 'test/oracle/oracle.ts']);
  if (built.status !== 0) return 'build';
  const oracle = [
    'dist/oracle.js',
    '--seed',
    'mutation',
    '--count',
    options.cases,
    '--failures',
    '1',
    '--shrink',
    'no',
  ];
  return (await ended(copy, ORACLE_MS, oracle)).status === 0 ? undefined : 'oracle';
}

/** The first quick test that fails in the copy, those of the folder of `path` first. */
async function failedTestFor(copy, path) {
  const near = dirname(path).replace('src/', 'test/');
  if (!existsSync(join(copy, near))) return failedTest(copy, quickTests);
  return (await failedTest(copy, [`${near}/`])) ?? failedTest(copy, [...quickTests, '--exclude', `${near}/**`]);
}

/** The first of the tests that fails, again when its file runs alone, or when all of them run again; undefined if all pass. */
async function failedTest(copy, paths) {
  const first = await firstFailure(copy, paths);
  const file = first?.split(' > ')[0];
  if (!file || !existsSync(join(copy, file))) return first;
  return (await firstFailure(copy, [file])) ?? firstFailure(copy, paths);
}

async function firstFailure(copy, paths) {
  const quiet = ['--silent', '--reporter', 'dot', '--no-color'];
  const limits = [
    '--bail',
    '1',
    '--maxWorkers',
    '1',
    '--testTimeout',
    String(TEST_MS),
    '--hookTimeout',
    String(TEST_MS),
  ];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...paths, ...limits, ...quiet];
  const { status, output } = await ended(copy, TESTS_MS, vitest);
  if (status === 0) return undefined;
  return /FAIL +(.*)/.exec(output)?.[1] ?? (status === null ? 'timeout' : 'tests');
}

/** Runs node with these arguments; past the time limit its whole process group is killed, since workers in a loop outlive their parent. */
function ended(cwd, ms, args) {
  return new Promise((done) => {
    const child = spawn(process.execPath, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const killGroup = () => process.kill(-child.pid, 'SIGKILL');
    process.once('exit', killGroup);
    const timer = setTimeout(killGroup, ms);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.on('close', (status) => {
      clearTimeout(timer);
      process.off('exit', killGroup);
      done({ status, output });
    });
  });
}

function mutantsOf(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (node, to) => {
    const from = node.getText(source);
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ path, line, start, end: node.getEnd(), from, to });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    mutate(node, add, source);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The changes of one node: each operator stands for its likely mistakes. */
function mutate(node, add, source) {
  if (ts.isBinaryExpression(node)) {
    const other = operators[ts.tokenToString(node.operatorToken.kind)];
    if (other) add(node, `${node.left.getText(source)} ${other} ${node.right.getText(source)}`);
  }
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    add(condition, 'true');
    add(condition, 'false');
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    add(node, node.operand.getText(source));
  if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true');
  if (ts.isNumericLiteral(node) && ts.isBinaryExpression(node.parent)) add(node, `(${node.text} + 1)`);
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) add(node, ';');
  if (ts.isExpressionStatement(node) && ts.isBinaryExpression(node.expression)) add(node, ';');
}

/** A sample that the seed decides, by a linear congruential generator. */
function sampleOf(all, size, seed) {
  const left = [...all];
  const sample = [];
  let state = seed >>> 0;
  while (sample.length < size && left.length > 0) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    sample.push(...left.splice(Math.floor((state / 2 ** 32) * left.length), 1));
  }
  return sample;
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').slice(0, 80);
}
