/**
 * Mutation score of the engine and the upstream room: changes one place of the source at a time and checks whether a test fails.
 *
 *   node scripts/mutation.mjs [--sample 200] [--seed 1] [--only src/upstream/limits/concurrency.ts] [--out results.json] [--first-pass]
 *
 * First every mutant runs against the oracle: it takes seconds, and most fail there. Then the others run against the tests of their own room
 * and against those of graph, upstream and journeys. A mutant that no run notices survives and is listed with its place, for review.
 * With --out a run goes on where another stopped; --first-pass ends it after the oracle. The seed decides the sample; without --sample all
 * mutants run, which takes hours. Works in a temporary copy of the tree, which is deleted at the end.
 */
import { execFileSync, spawnSync } from 'node:child_process';
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
import { join, resolve } from 'node:path';
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
  },
});

/** The operator that replaces another: its likeliest mistake. */
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

/** Longer runs are stopped and count as failed: the mutant made the code wait or loop. */
const ORACLE_MS = 120_000;
const TESTS_MS = 300_000;

/** What decides on a mutant that the oracle does not notice. */
const tested = ['test/graph', 'test/upstream', 'test/journey', 'test/hostile/upstream.test.ts'];

/** The engine of the graph and the whole upstream room; domains are declarations, which the tests of the origin hold. */
const mutated = (options.only ?? [...filesIn('src/graph/engine'), ...filesIn('src/upstream')]).filter(
  (path) => readFileSync(join(root, path), 'utf8').length > 0,
);

const mutants = mutated.flatMap(mutantsOf);
const drawn = options.sample ? sampleOf(mutants, Number(options.sample), Number(options.seed)) : mutants;

const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));
for (const name of execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean))
  cpSync(join(root, name), join(copy, name), { recursive: true });
symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'));

const failing = failedOracle() ?? (options['first-pass'] ? undefined : failedTestFor('src/graph/engine'));
if (failing) throw new Error(`Without any mutant this fails: ${failing}`);

/** `oracle` and `tests` are null if they pass; they are missing if they have not run. */
const results = options.out && existsSync(options.out) ? JSON.parse(readFileSync(options.out, 'utf8')) : drawn;
const isKilled = ({ oracle, tests }) => Boolean(oracle ?? tests);

for (const mutant of results) if (mutant.oracle === undefined) run(mutant, 'oracle', failedOracle);
if (!options['first-pass'])
  for (const mutant of results)
    if (mutant.oracle === null && mutant.tests === undefined) run(mutant, 'tests', failedTestFor);

const decided = results.filter((each) => isKilled(each) || each.tests === null);
const killed = results.filter(isKilled).length;
console.log(
  `${mutants.length} mutants, ${decided.length} of ${results.length} decided, ${killed} killed: ${((100 * killed) / decided.length).toFixed(1)} %`,
);
for (const { path, line, from, to } of results.filter(({ tests }) => tests === null))
  console.log(`survived: ${path}:${line} ${oneLine(from)} -> ${oneLine(to)}`);

/** Runs a pass for a mutant and notes its result. */
function run(mutant, pass, failureFor) {
  const path = join(copy, mutant.path);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end));
  mutant[pass] = failureFor(mutant.path) ?? null;
  writeFileSync(path, text);
  const { line, from, to } = mutant;
  console.log(`${pass} ${mutant.path}:${line} ${oneLine(from)} -> ${oneLine(to)}: ${mutant[pass] ?? 'passes'}`);
  if (options.out) writeFileSync(options.out, JSON.stringify(results, null, 1));
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/** How the oracle fails in the copy; undefined if it passes. */
function failedOracle() {
  const built = spawnSync('node', ['build.mjs', 'test/oracle/oracle.ts'], { cwd: copy, timeout: ORACLE_MS });
  if (built.status !== 0) return 'build';
  const oracle = ['dist/oracle.js', '--seed', 'mutation', '--count', options.cases, '--failures', '1'];
  return spawnSync('node', oracle, { cwd: copy, timeout: ORACLE_MS }).status === 0 ? undefined : 'oracle';
}

/** The first test that fails in the copy, those of the room of `path` first. */
function failedTestFor(path) {
  const room = path.startsWith('src/upstream') ? 'test/upstream' : 'test/graph';
  return failedTest([room]) ?? failedTest(tested.filter((each) => each !== room));
}

/** The first of the tests that fails; undefined if all pass. */
function failedTest(paths) {
  const tests = ['vitest', 'run', ...paths, '--bail', '1', '--silent', '--reporter', 'dot', '--no-color'];
  const { status, stdout, stderr } = spawnSync('npx', tests, { cwd: copy, timeout: TESTS_MS, encoding: 'utf8' });
  if (status === 0) return undefined;
  return /FAIL +(.*)/.exec(stdout + stderr)?.[1] ?? (status === null ? 'timeout' : 'tests');
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
