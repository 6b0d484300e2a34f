import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type OperationDefinitionNode, buildSchema, parse, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { type CheckOptions, runCheck } from '../../src/check/command.ts';
import { createLostFinder } from '../../src/check/lost.ts';
import { readConfig } from '../../src/config/read.ts';
import { sha256Of } from '../../src/config/documents/trusted-documents.ts';
import type { Config } from '../../src/config/settings.ts';
import { cheapestVariables, withSmallNumbers } from '../../src/engine/cost/variable-bounds.ts';
import { schema } from '../../src/graph/schema.ts';
import { price } from '../../src/price.ts';
import { generateOperation } from '../oracle/generate-operations.ts';
import { FIRST_MAX } from '../../src/engine/values/paging.ts';
import { createRandom } from '../oracle/random.ts';
import { worldIds } from '../oracle/world.ts';
import { type GraphQLResponse, facade } from '../support/facade.ts';
import { thorough } from '../support/optional.ts';
import { runProgram } from '../support/program.ts';
import { temporaryDirectory } from '../support/service.ts';
import { UserError } from '../../src/lib/user-error.ts';

const directory = temporaryDirectory();

function file(name: string, content: unknown): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 1));
  return path;
}

const manifestOf = (name: string, texts: readonly string[]): string =>
  file(name, Object.fromEntries(texts.map((text) => [sha256Of(text), text])));

interface Found {
  severity: string;
  code: string;
  message: string;
  coordinate?: string;
  file: string;
  line: number;
}
interface Checked {
  errors: number;
  findings: Found[];
  operations: { name: string; valid: boolean; calls: { least: number; most: number }; findings: Found[] }[];
}

async function check(paths: readonly string[], options: Partial<CheckOptions> = {}, settings: Partial<Config> = {}) {
  const { output, exitCode } = await runCheck(paths, { format: 'json', ...options }, schema, {
    ...readConfig({}),
    ...settings,
  });
  const report = JSON.parse(output) as Checked;
  const all = [...report.findings, ...report.operations.flatMap(({ findings }) => findings)];
  return { ...report, exitCode, all };
}

const pages = ['annotate', 'annotations', 'book', 'celebrity', 'charts', 'city', 'collect', 'dashboard', 'diary'];
const pagePaths = [...pages, 'event', 'explain', 'film', 'note', 'search', 'shelf'].map(
  (name) => `operations/${name}.graphql`,
);

/** The codes of an operation that was not run. */
const rejection = (response: GraphQLResponse) =>
  response.data === undefined ? response.errors!.map(({ extensions: { code } }) => code) : [];

/** Settings under which about half of the generated operations are rejected, by each of the limits. */
const strict = { maxUpstreamCalls: 12, maxItems: 400, maxValues: 900, maxDepth: 7, maxAliases: 3, maxFields: 40 };

/** An operation of any form; one in four selects a field that does not exist. */
function generated(seed: number) {
  const random = createRandom(`check ${seed}`);
  const wanted = { ids: worldIds, isMutation: seed % 5 === 0, isDivided: seed % 7 === 0 };
  const operation = generateOperation(random, wanted);
  if (!random.chance(0.25)) return operation;
  return { ...operation, document: operation.document.replace(/\b(?:id|title|name|__typename)\b(?= |})/, 'vanished') };
}

/** The cheapest variables, and these with the smallest numbers and all truth values. */
function cheapOnes(operation: OperationDefinitionNode): Record<string, unknown>[] {
  const cheapest = cheapestVariables(schema, operation);
  const flags = Object.keys(cheapest).filter((name) => typeof cheapest[name] === 'boolean');
  const all = flags.reduce<Record<string, unknown>[]>(
    (found, name) => found.flatMap((each) => [each, { ...each, [name]: true }]),
    [withSmallNumbers(schema, operation, cheapest, 0)],
  );
  return [cheapest, ...all];
}

test('its verdicts are those of the server, of the pages and of generated manifests', async () => {
  const { execute } = facade(strict, { allowsUndeclared: true });
  const verdicts = { accepted: 0, rejected: 0 };
  async function compare(texts: readonly string[], { operations }: Checked) {
    expect(operations).toHaveLength(texts.length);
    for (const [at, query] of texts.entries()) {
      const [operation] = parse(query).definitions.filter((node) => node.kind === 'OperationDefinition');
      // It is accepted if it may run with any variables.
      const verdictsOfServer: string[][] = [];
      for (const variables of cheapOnes(operation!)) {
        verdictsOfServer.push(rejection(await execute(query, { variables, token: 'any' })) as string[]);
        if (verdictsOfServer.at(-1)!.length === 0) break;
      }
      const said = verdictsOfServer.find((codes) => codes.length === 0) ?? verdictsOfServer[0]!;
      const own = operations[at]!.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
      expect({ query, own, valid: operations[at]!.valid }).toEqual({ query, own: said, valid: said.length === 0 });
      verdicts[said.length === 0 ? 'accepted' : 'rejected']++;
    }
  }
  for (const path of pagePaths) await compare([readFileSync(path, 'utf8')], await check([path], {}, strict));
  for (let seed = 0; seed < (thorough ? 200 : 60); seed++) {
    const texts = [...new Set([generated(2 * seed).document, generated(2 * seed + 1).document])];
    await compare(texts, await check([], { manifest: [manifestOf('generated.json', texts)] }, strict));
  }
  expect(Math.min(verdicts.accepted, verdicts.rejected)).toBeGreaterThan(thorough ? 50 : 20);
});

/** A list is not called with a size, an offset or a cursor that is wrong. */
const isWrongPlace = (value: unknown): boolean =>
  typeof value === 'number' ? value < 0 || value > FIRST_MAX : value === 'bm90IGEgY3Vyc29y';

test('what it says of calls contains what the server says for any variables', async () => {
  const { execute } = facade({}, { allowsUndeclared: true });
  let compared = 0;
  for (let seed = 1_000; seed < (thorough ? 1_150 : 1_050); seed++) {
    const { document, variables } = generated(seed);
    const codes = rejection(await execute(document, { variables, token: 'any' }));
    const { extensions } = await execute(document, { variables, token: 'any', explain: 'plan' });
    const exact = price(document, variables);
    expect({ document, codes: exact.errors.map(({ code }) => code) }).toEqual({ document, codes });
    if (!exact.cost) continue;
    const { upstream, answer } = extensions as Record<string, { min: number; max: number; items: { max: number } }>;
    const any = price(document);
    for (const { cost } of [exact, any]) {
      if (cost === exact.cost || !Object.values(variables).some(isWrongPlace))
        expect({ document, variables, cost, min: upstream!.min }).toSatisfy(() => cost!.calls.least <= upstream!.min);
      expect({ document, variables, cost, max: upstream!.max }).toSatisfy(() => cost!.calls.most >= upstream!.max);
      expect(cost!.items).toBeGreaterThanOrEqual(answer!.items.max);
    }
    compared++;
  }
  expect(compared).toBeGreaterThan(thorough ? 80 : 25);
});

const printed = printSchema(schema);
/** The present schema with a field that is gone by now, and a promise that is not kept. */
const oldSchema = printed
  .replace(/^type Book implements Node & WebPage \{$/m, 'type Book implements Node & WebPage {\n  formerTitle: String')
  .replace(/^ {2}title: String$/m, '  title: String!');

test('a removed field fails with its coordinate, file and line', async () => {
  const path = file('removed/app.graphql', 'query A {\n  book(id: 1) {\n    ...B\n  }\n}\n');
  const fragment = file('removed/b.graphql', 'fragment B on Book {\n  id\n  short: formerTitle\n}\n');
  const { exitCode, all } = await check([join(directory, 'removed')]);
  expect(exitCode).toBe(1);
  expect(all).toEqual([
    {
      severity: 'error',
      code: 'GRAPHQL_VALIDATION_FAILED',
      message: expect.stringContaining('"formerTitle" on type "Book"') as string,
      coordinate: 'Book.formerTitle',
      file: fragment,
      line: 3,
    },
  ]);
  expect((await check([path], {}, {})).all[0]).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED', line: 3 }); // without its fragment
});

test('with an older schema it says what documents lose that were valid under it', async () => {
  expect(oldSchema).toContain('formerTitle');
  const schemaFile = file('old.graphql', oldSchema);
  const path = file(
    'lost.graphql',
    'query A { book(id: 1) { formerTitle } }\nquery B { nope }\nquery C { book(id: 1) { id } }',
  );
  const silent = file('silent.graphql', 'query D($id: ID!) {\n  book(id: $id) {\n    title\n  }\n}');
  const { all } = await check([path], { schema: schemaFile });
  expect(all.map(({ coordinate, message }) => [coordinate, message.includes('The old schema allowed it.')])).toEqual([
    ['Book.formerTitle', true],
    ['Query.nope', false],
  ]);
  const title = /^type (\w+)[^}]*?^ {2}title: String!$/m.exec(oldSchema)![1];
  const found = await check([silent], { schema: schemaFile });
  if (title === 'Book')
    expect(found.all).toMatchObject([
      { code: 'LOST', coordinate: 'Book.title', line: 3, message: /from 'String!' to 'String'/ },
    ]);
  const same = await check([silent], { schema: file('same.graphql', printed) });
  expect(same).toMatchObject({ exitCode: 0, all: [] });
});

test('a type or an argument that is gone is lost with all that uses it', async () => {
  const schemaFile = file(
    'older.graphql',
    `${oldSchema}\nenum Mood { GOOD }\nextend type Query { mood(of: Mood): Int, book2(id: ID!): Int }`,
  );
  const path = file('types.graphql', 'query A($mood: Mood) {\n  mood(of: $mood)\n}\nquery B {\n  mood(of: GOOD)\n}');
  const { operations } = await check([path], { schema: schemaFile });
  const coordinates = operations.map(({ findings }) =>
    [...new Set(findings.map(({ coordinate }) => coordinate))].sort(),
  );
  expect(coordinates).toEqual([['Mood', 'Query.mood'], ['Query.mood']]);
});

test('of a variable it says what clients can no longer send in it, and what they must', async () => {
  const schemaFile = file(
    'inputs.graphql',
    printed
      .replace(
        /^input CollectBookInput \{[^}]*\}/m,
        'input CollectBookInput { bookId: ID!, color: String, onConflict: CollectBookConflict, isPrivate: Int }',
      )
      .replace(/^enum CollectBookConflict \{$/m, '$&\n  MERGE'),
  );
  const path = file(
    'variables.graphql',
    'mutation A(\n  $input: CollectBookInput!\n) { collectBook(input: $input) { created } }',
  );
  const { all } = await check([path], { schema: schemaFile });
  expect(all.map(({ message }) => message)).toEqual([
    "Input field 'color' was removed from input object type 'CollectBookInput'.",
    "Input field 'status' of type 'CollectionStatus!' was added to input object type 'CollectBookInput'.",
    "Input field 'CollectBookInput.isPrivate' changed type from 'Int' to 'Boolean'.",
    "Enum value 'MERGE' was removed from enum 'CollectBookConflict'.",
    "Input field 'CollectBookInput.onConflict' default value changed from 'undefined' to '\"FAIL\"'.",
  ]);
});

/** What an operation loses with the new form of a field of an input type, whose values are in a variable or a literal. */
async function lostOfInput(was: string, is: string, literal?: string): Promise<string[]> {
  const [old, present] = [was, is].map((field) =>
    buildSchema(`input In { id: ID, ${field} }\ntype Query { save(in: In!): Int }`),
  );
  const text = literal ? `{ save(in: ${literal}) }` : 'query A($in: In!) { save(in: $in) }';
  return (await createLostFinder(old!, present!))(parse(text))!.map(({ message }) => message);
}

test('types of input fields are compared for variables; validation decides whether a literal still has them', async () => {
  const forms = ['private: Boolean', 'private: Boolean! = false'] as const;
  expect(await lostOfInput(...forms, '{ private: true }')).toEqual([]);
  expect(await lostOfInput(...forms)).toEqual(["Input field 'In.private' changed type from 'Boolean' to 'Boolean!'."]);
  expect(await lostOfInput('private: Boolean', 'public: Boolean', '{ private: true }')).toEqual([
    "Input field 'private' was removed from input object type 'In'.",
  ]);
});

test('of a variable it says which fields became required, or have another type', async () => {
  const changed = (was: string, is: string) => [`Input field 'In.x' changed type from '${was}' to '${is}'.`];
  expect(await lostOfInput('x: Int', 'x: Int!')).toEqual(changed('Int', 'Int!'));
  expect(await lostOfInput('x: Boolean', 'x: Int!')).toEqual(changed('Boolean', 'Int!'));
  expect(await lostOfInput('x: Int!', 'x: Int')).toEqual([]);
  expect(await lostOfInput('y: Int', 'y: Int, x: Int!')).toEqual([
    "Input field 'x' of type 'Int!' was added to input object type 'In'.",
  ]);
});

test('a raised cost fails with the most expensive field, until it is accepted', async () => {
  const path = file(
    'cost/a.graphql',
    'query Cost { top250(first: 5) { nodes { title } } }\nquery Other { book(id: 1) { title } }',
  );
  const prices = join(directory, 'prices.json');
  await expect(check([path], { prices })).rejects.toThrow(/write it with --update/);
  await check([path], { prices, update: true });
  const written = readFileSync(prices, 'utf8');
  await check([path], { prices, update: true });
  expect(readFileSync(prices, 'utf8')).toBe(written);
  expect(Object.keys(JSON.parse(written) as object)).toEqual(['Cost', 'Other']);
  expect(await check([path], { prices })).toMatchObject({ exitCode: 0, all: [] });

  file(
    'cost/a.graphql',
    'query Other { book(id: 1) { title } }\nquery Cost { top250(first: 5) { nodes { title directors { name } } } }',
  );
  const { exitCode, all } = await check([path], { prices });
  expect(exitCode).toBe(1);
  expect(all).toMatchObject([{ code: 'COST_RAISED', coordinate: 'Subject.directors', file: path, line: 2 }]);
  expect(all[0]!.message).toContain('upstream calls, the most: 1 before, 6 now');
  expect((await check([path], { prices, update: true })).exitCode).toBe(0);
  expect((await check([path], { prices })).exitCode).toBe(0);
  // Less is not a finding.
  file('cost/a.graphql', 'query Cost { top250(first: 5) { nodes { title } } }');
  expect(await check([path], { prices })).toMatchObject({ exitCode: 0, all: [] });
});

test('a manifest that is older than the documents fails by its name', async () => {
  const path = file(
    'stale/a.graphql',
    'query A { book(id: 1) { ...B } }\nfragment B on Book { id title pages }\nquery New { viewer { isLoggedIn } }',
  );
  const known = 'fragment B on Book { title pages id } query A { book(id: 1) { ...B __typename } }';
  const older = 'query A { book(id: 1) { id title } }';
  const stale = await check([path], { manifest: [manifestOf('stale.json', [older])] });
  expect(stale.exitCode).toBe(1);
  expect(stale.findings).toMatchObject([
    { code: 'STALE_MANIFEST', message: expect.stringContaining('its A differs') as string, file: path, line: 1 },
    { code: 'STALE_MANIFEST', message: expect.stringContaining('no manifest has it') as string, line: 3 },
  ]);
  // Those of earlier releases stay, beside the present one.
  const present = manifestOf('present.json', [
    known.replace('title pages id', 'id title pages'),
    'query New { viewer { isLoggedIn } }',
  ]);
  expect((await check([path], { manifest: [join(directory, 'stale.json'), present] })).exitCode).toBe(0);
});

test('deprecated fields and limits that only some variables exceed are warnings', async () => {
  const path = file(
    'warn.graphql',
    'query A($first: Int!) {\n  top250(first: $first) {\n    nodes { casts { works(first: 20) { totalCount } } pubdate }\n  }\n}',
  );
  const { exitCode, all } = await check([path]);
  expect(exitCode).toBe(0);
  expect(all).toMatchObject([
    { severity: 'warning', code: 'DEPRECATED', coordinate: 'Subject.pubdate', line: 3 },
    { severity: 'warning', code: 'TOO_MANY_CALLS', coordinate: 'Celebrity.works' },
  ]);
});

test('it prints annotations of workflows, with file and line and escaped texts', async () => {
  const path = file('a,b:c.graphql', '\nquery A { nope }');
  const { output } = await runCheck([path], { format: 'github' }, schema, readConfig({}));
  const [line, summary] = output.split('\n');
  expect(line).toMatch(/^::error file=.*a%2Cb%3Ac\.graphql,line=2,title=A%3A Query\.nope::.*"nope" on type "Query"/);
  expect(summary).toBe('1 operation, 1 error, 0 warnings');
});

test('text tells what an operation costs and needs', async () => {
  const { output } = await runCheck(['operations/film.graphql'], { format: 'text' }, schema, readConfig({}));
  expect(output).toMatch(/^ok +Film +operations\/film\.graphql:2$/m);
  expect(output).toMatch(
    /calls 3 to 4, about 3, most of them Query\.subject \(1\), items \d+, values \d+; scopes movie_/,
  );
  expect(output).toContain('film tiers advance');
});

test('files that cannot be read as what they are fail, and the others are checked', async () => {
  const good = file('good.graphql', 'query A { book(id: 1) { id } }');
  const broken = file('broken.graphql', 'query B {\n  book(');
  const manifest = file('bad.json', { [sha256Of('x')]: 'query C { book(id: 1) { id } }' });
  const { exitCode, findings, operations } = await check([good, broken], { manifest: [manifest] });
  expect(exitCode).toBe(1);
  expect(operations).toMatchObject([{ name: 'A', valid: true }]);
  expect(findings).toMatchObject([
    { code: 'GRAPHQL_PARSE_FAILED', file: broken, line: 2 },
    { code: 'BAD_MANIFEST', file: manifest, message: /not the hash of its text/ },
  ]);
});

test.each<[string, readonly string[], Partial<CheckOptions>, RegExp]>([
  ['nothing to check', [], {}, /Name a manifest/],
  ['a file that is not there', ['nowhere.graphql'], {}, /nowhere\.graphql cannot be read \(ENOENT\)/],
  ['program sources', ['src/main.ts'], {}, /documents in program sources are not read/],
  ['an update without a price file', ['operations'], { update: true }, /--update needs the price file/],
  ['a price file that is none', ['operations'], { prices: 'package.json' }, /is no price file/],
  ['a schema that is none', ['operations'], { schema: 'package.json' }, /is no schema/],
  ['a schema that is not there', ['operations'], { schema: 'nowhere' }, /nowhere cannot be read/],
])('%s is an error of usage', async (_, paths, options, message) => {
  const run = check(paths, options);
  await expect(run).rejects.toThrow(UserError);
  await expect(run).rejects.toThrow(message);
});

test('the command exits with 0, with 1 if there are errors, and with 2 if it cannot run', async () => {
  const run = async (...args: string[]) => runProgram({}, ['check', ...args]);
  const good = await run('operations', '--format', 'json');
  expect([good.code, good.err, (JSON.parse(good.out) as Checked).operations.length]).toEqual([0, '', 22]);
  const limited = await run('operations', '--max-upstream-calls', '2');
  expect([limited.code, limited.err]).toEqual([1, '']);
  expect(limited.out).toContain('(TOO_MANY_CALLS)');
  for (const args of [
    ['--nope'],
    ['nowhere'],
    [],
    ['operations', '--format', 'xml'],
    ['operations', '--max-depth', 'x'],
  ]) {
    const { code, out, err } = await run(...args);
    expect({ args, code, out }).toEqual({ args, code: 2, out: '' });
    expect(err).not.toBe('');
  }
  // The manifest of the server is not read.
  const env = { PERSISTED_OPERATIONS: 'nowhere', PERSISTED_ONLY: 'on' };
  expect((await runProgram(env, ['check', 'operations'])).code).toBe(0);
});
