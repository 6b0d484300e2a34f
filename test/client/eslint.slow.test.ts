/** The ESLint plugin of the client package, run by ESLint itself. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as plugin from '../../client/src/eslint.ts';
import { temporaryDirectory } from '../support/service.ts';

interface Message {
  ruleId: string;
  message: string;
  line: number;
  column: number;
  endColumn: number;
}
type Linter = new (options: object) => { verify: (code: string, config: object[], options: object) => Message[] };

/** The packages of the linter are installed by `npm run lint`. */
const eslint = 'lint/node_modules/eslint';
const isInstalled = existsSync(eslint);

function lint(code: string, rules: object, { name = 'a.js', cwd = process.cwd() } = {}): Message[] {
  const { Linter } = createRequire(join(process.cwd(), eslint, 'package.json'))('eslint') as { Linter: Linter };
  const scripts = { files: ['**/*.js'], plugins: { catalog: plugin }, rules };
  const documents = { ...scripts, files: ['**/*.graphql'], languageOptions: { parser: plugin.parser } };
  return new Linter({ cwd }).verify(code, [scripts, documents], { filename: join(cwd, name) });
}
const told = (messages: readonly Message[]) => messages.map(({ message }) => message);

const dear =
  'query Dear { top250(first: 100) { nodes { title directors { works(first: 5) { nodes { subject { summary } } } } } } }';
const maxCalls = { 'catalog/max-calls': 'error' };
const price = { 'catalog/price': 'warn' };

describe.skipIf(!isInstalled)('the rule max-calls', () => {
  test('reports at its head an operation that the server refuses, with what makes it cheaper', () => {
    const code = `const before = 1;\nconst dear = gql\`\n  ${dear}\n\`;\n`;
    const [message, ...more] = lint(code, maxCalls);
    expect(more).toEqual([]);
    expect(message).toMatchObject({ ruleId: 'catalog/max-calls', line: 3, column: 3, endColumn: 13 });
    expect(message!.message).toMatch(
      /^Dear: the server refuses it\. The operation is likely to cost 701 calls .* 250 .*Cheaper: with first: 20 at top250: about 141, at most 501 calls; 250 allowed\.$/,
    );
    expect(lint(code.replace('top250(first: 100)', 'top250(first: 20)'), maxCalls)).toEqual([]);
  });

  test('reports an operation above the calls that the project allows, likely or possible', () => {
    const code = 'gql`{ top250(first: 5) { nodes { title directors { name } } } }`';
    expect(lint(code, maxCalls)).toEqual([]);
    expect(told(lint(code, { 'catalog/max-calls': ['error', { most: 5 }] }))).toEqual([
      expect.stringMatching(/^query: about 6 calls, 1 to 6, most for Subject\.directors, but at most 5 are allowed\./),
    ]);
    expect(told(lint(code, { 'catalog/max-calls': ['error', { likely: 5 }] }))).toHaveLength(1);
    expect(lint(code, { 'catalog/max-calls': ['error', { most: 6, likely: 6 }] })).toEqual([]);
    const limits = { maxUpstreamCalls: 4 };
    expect(told(lint(code, { 'catalog/max-calls': ['error', { limits }] }))[0]).toContain('the server refuses it');
  });

  test('says nothing of a document that is wrong or not finished, of another graph, or of what is no document', () => {
    for (const code of [
      'gql`{ top250(first: 100) { nodes { tit`',
      'gql`{ other { a } }`',
      'gql`{ other { ...Nowhere } }`',
      'gql`{ other { a ${b} } }`',
      'gql`{ top250(first: ${n}) { nodes { title } } }`',
      'gql`fragment F on Book { title }`',
      'sql`${dear}`',
      'graphql(name); graphql(); gql(1)',
      'a`{ book(id: 1) { title } }`',
    ])
      expect([code, told(lint(code, { ...maxCalls, ...price }))]).toEqual([code, []]);
  });
});

describe.skipIf(!isInstalled)('the rule price', () => {
  test.each([
    ['a tagged template', 'gql`query A { book(id: 1) { title } }`'],
    ['a function', 'graphql(`query A { book(id: 1) { title } }`)'],
    ['a function with a string', 'graphql("query A { book(id: 1) { title } }")'],
    ['a template with a comment', 'const a = /* GraphQL */ `query A { book(id: 1) { title } }`'],
    ['an escaped character', 'gql`query A { searchBooks(query: "\\`") { totalCount } }`'],
    [
      'a fragment of the file',
      'gql`query A { book(id: 1) { ...B } } ${B}`; const B = gql`fragment B on Book { title }`',
    ],
  ])('tells the price of an operation in %s', (_, code) => {
    expect(told(lint(code, price))).toEqual(['A: 1 call']);
  });

  test('tells that of each operation of a .graphql file, whose comments can switch it off', () => {
    const code = `# the first
query A($n: Int) { top250(first: $n) { nodes { ...F } } }
query B { book(id: 1) { title } }
# eslint-disable-next-line catalog/price
query C { book(id: 1) { title } }
fragment F on Subject { title summary }
`;
    const messages = lint(code, price, { name: 'a.graphql' });
    expect(messages.map(({ message, line }) => [line, message])).toEqual([
      [2, 'A: about 101 calls, 1 to 101, most for Subject.summary'],
      [3, 'B: 1 call'],
    ]);
  });

  test('takes fragments of other files below src', () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/films.js'), 'gql`fragment Film on Subject { title ...More } ${More}`');
    writeFileSync(join(cwd, 'src/more.graphql'), 'fragment More on Subject { summary }');
    const code = 'query A { top250(first: 60) { nodes { ...Film } } }';
    const [message] = lint(code, price, { name: 'a.graphql', cwd });
    expect(message!.message).toBe('A: about 61 calls, 1 to 61, most for Subject.summary');
  });

  test.each(['catalog/price', 'catalog/max-calls'])(
    'says that a document is not priced whose fragment is in no file that it reads, as %s does',
    (rule) => {
      const cwd = temporaryDirectory();
      mkdirSync(join(cwd, 'node_modules/parts'), { recursive: true });
      const parts = 'gql`fragment BookParts on Book { title series { id title } }`';
      writeFileSync(join(cwd, 'node_modules/parts/parts.js'), parts);
      const code = 'gql`query B { book(id: "1") { title ...BookParts } } ${parts}`';
      const [message, ...more] = lint(code, { [rule]: ['error', { most: 0 }] }, { cwd });
      expect(more).toEqual([]);
      expect(message).toMatchObject({ line: 1, column: 5, endColumn: 12 });
      expect(message!.message).toBe(
        'B: not priced, because no file of src has BookParts. Name the file or its folder in the option fragments.',
      );
      const named = lint(code, { [rule]: ['error', { most: 0, fragments: ['node_modules/parts'] }] }, { cwd });
      expect(told(named)).toEqual([expect.stringMatching(/^B: (?:about )?\d/)]);
    },
  );

  test('says that a document is not priced of which an expression is a part, also in a fragment of another file', () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/parts.js'), 'gql`fragment Parts on Subject { title ${more} }`');
    for (const code of [
      'gql`query A { top250 { nodes { title ${more} } } }`',
      'gql`query A { top250 { nodes { ...Parts } } }`',
      'gql`query A($n: Int) { top250 { nodes { ...Own ${F} } } } ${F}`; const F = gql`fragment Own on Subject { title }`',
    ])
      expect(told(lint(code, price, { cwd }))).toEqual(['A: not priced, because a part of it is an expression.']);
    const whole = 'gql`query A { top250 { nodes { ...Own } } } ${F}`; const F = gql`fragment Own on Subject { title }`';
    expect(told(lint(whole, price, { cwd }))).toEqual(['A: 1 call']);
  });

  test('takes such fragments from templates with other names, with types, and with braces in their expressions', () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'parts'));
    writeFileSync(join(cwd, 'parts/typed.ts'), 'gql<F>`fragment Typed on Subject { summary }`');
    writeFileSync(join(cwd, 'parts/braces.js'), 'gql`fragment Braces on Subject { summary } ${of({ a: 1 })}`');
    writeFileSync(
      join(cwd, 'parts/named.js'),
      'film`fragment Named on Subject { summary }`; afilm`fragment No on Book { id }`',
    );
    const of = (name: string, options: object) =>
      told(
        lint(
          `film\`query A { top250(first: 2) { nodes { ...${name} } } }\``,
          { 'catalog/price': ['warn', options] },
          { cwd },
        ),
      );
    // A folder may be absolute.
    for (const fragments of [['parts'], [join(cwd, 'parts')]]) {
      const options = { tags: ['film', 'gql'], fragments };
      const price = ['A: about 3 calls, 1 to 3, most for Subject.summary'];
      for (const name of ['Typed', 'Braces', 'Named']) expect([name, of(name, options)]).toEqual([name, price]);
      expect(of('No', options)).toEqual([expect.stringMatching(/^A: not priced, because no file of \S+ has No\./)]);
    }
  });

  test('tells an operation once whose function has the comment of a document too', () => {
    expect(told(lint('graphql(/* GraphQL */ `query A { book(id: 1) { title } }`)', price))).toEqual(['A: 1 call']);
  });

  test('tells that of what a client sends, without what it takes out', () => {
    const code = `query A($n: Int) {
  top250(first: $n) @connection(key: "a") { nodes { title summary ...F @nonreactive } }
}
fragment F on Subject { year }`;
    expect(told(lint(code, price, { name: 'a.graphql' }))).toEqual([
      'A: about 101 calls, 1 to 101, most for Subject.summary',
    ]);
  });

  test('is switched off by a comment at the end of a line, and not by what looks so in a string', () => {
    const off = (name: string) => `# eslint-${name} catalog/price`;
    const code = `query A { book(id: 1) { title } } ${off('disable-line')}
query B { searchBooks(query: "${off('disable')}") { totalCount } }
query C { searchBooks(query: """
${off('disable')}
""") { totalCount } }
`;
    expect(lint(code, price, { name: 'a.graphql' }).map(({ line }) => line)).toEqual([2, 3]);
  });
});
