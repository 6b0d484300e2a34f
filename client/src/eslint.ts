/**
 * An ESLint plugin: the price of each operation where it is written, and what makes it cheaper. It reads `.graphql` files, and templates and calls of `gql` and `graphql` in scripts.
 */
import { type DefinitionNode, Kind, parse, print, visit } from 'graphql';
import { asSent } from '../../src/config/documents/client-directives.ts';
import { findFragment, fragmentsIn } from './fragment-files.ts';
import { GAP, type GraphqlSource, type ScriptNode, contentOf, isGraphqlFile, taggedSource } from './graphql-sources.ts';
import { type DocumentPrice, type PriceLimits, price } from './price.ts';

export interface CallsOptions {
  /** The most calls that are likely. */
  readonly likely?: number;
  /** The most calls that are possible. */
  readonly most?: number;
  /** Limits of the server, if they are not those by default. */
  readonly limits?: PriceLimits;
  /** The names of templates and functions with documents. By default `gql` and `graphql`. */
  readonly tags?: readonly string[];
  /** Files and folders with fragments that documents of other files spread. By default `src`. */
  readonly fragments?: readonly string[];
}

interface Place {
  readonly line: number;
  readonly column: number;
}

interface Report {
  loc: { start: Place; end: Place };
  messageId: string;
  data: Record<string, string>;
}

interface Context {
  readonly options: readonly unknown[];
  readonly filename: string;
  readonly cwd: string;
  readonly sourceCode: {
    readonly text: string;
    getLocFromIndex(index: number): Place;
    getCommentsBefore?(node: object): { value: string }[];
  };
  report(report: Report): void;
}

interface Rule {
  readonly meta: {
    readonly type: 'suggestion';
    readonly docs: { readonly description: string };
    readonly schema: object[];
    readonly messages: Record<string, string>;
  };
  /** The context of the versions of ESLint differs in what is not used here. */
  create(context: object): Record<string, (node: ScriptNode) => void>;
}

/** Undefined if there is nothing to say of the operation. */
type Judge = (priced: DocumentPrice, options: CallsOptions) => string | undefined;

const TAGS: readonly string[] = ['gql', 'graphql'];
/** The strings of a document, which may have the sign of a comment, and its comments. */
const STRINGS_AND_COMMENTS = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*/g;
const amount = { type: 'integer', minimum: 0 };
const names = { type: 'array', items: { type: 'string' } };
const schema = [
  {
    type: 'object',
    additionalProperties: false,
    properties: {
      likely: amount,
      most: amount,
      limits: { type: 'object', additionalProperties: amount },
      tags: names,
      fragments: names,
    },
  },
];

function ruleOf(description: string, judge: Judge): Rule {
  const messages = { said: '{{name}}: {{said}}' };
  return {
    meta: { type: 'suggestion', docs: { description }, schema, messages },
    create(given): ReturnType<Rule['create']> {
      const context = given as Context;
      const options = (context.options[0] ?? {}) as CallsOptions;
      const { tags = TAGS } = options;
      const { text } = context.sourceCode;
      const sources: GraphqlSource[] = [];
      // The argument of a function may have the comment too.
      const add = (source: GraphqlSource | undefined) =>
        source && !sources.some(({ start }) => start === source.start) && sources.push(source);
      const isCommented = (node: ScriptNode) =>
        context.sourceCode.getCommentsBefore?.(node).some(({ value }) => value.trim() === 'GraphQL');
      const end = () => {
        for (const priced of pricesOf(sources, options, context.cwd))
          report(context, priced, priced.unread ?? judge(priced.price, options));
      };
      if (isGraphqlFile(context.filename))
        return {
          'Program:exit': () => {
            add({ text, start: 0, isExact: true });
            end();
          },
        };
      return {
        TaggedTemplateExpression: (node: ScriptNode) => void add(taggedSource(node, text, tags)),
        CallExpression: (node: ScriptNode) => void add(taggedSource(node, text, tags)),
        TemplateLiteral: (node: ScriptNode) => void (isCommented(node) && add(contentOf(node, text))),
        'Program:exit': end,
      };
    },
  };
}

/** A document of one operation in the file. */
interface Priced {
  price: DocumentPrice;
  /** What the price is without, if it is not that of all of the document. */
  unread?: string | undefined;
  source: GraphqlSource;
  /** Where the operation and its head are in the source. */
  start: number;
  end: number;
  name: string;
}

function pricesOf(
  sources: readonly GraphqlSource[],
  { limits, tags = TAGS, fragments = ['src'] }: CallsOptions,
  cwd: string,
) {
  const inFile = new Map(sources.flatMap(({ text }) => [...fragmentsIn(text)]));
  const find = (name: string) => inFile.get(name) ?? findFragment(name, fragments, cwd, tags);
  return sources.flatMap((source): Priced[] => {
    const definitions = definitionsOf(source.text);
    return definitions.flatMap((operation) => {
      if (operation.kind !== Kind.OPERATION_DEFINITION) return [];
      const { document, missing, hasGap } = documentOf(source.text, operation, definitions, find);
      const name = operation.name?.value;
      const start = operation.loc!.start;
      const end = operation.name?.loc!.end ?? operation.selectionSet.loc!.start + 1;
      const priced = price(sentTextOf(document), name, limits);
      const unread = priced.errors.some(isOfAnotherGraph) ? undefined : unreadText(missing, hasGap, fragments);
      return [{ price: priced, unread, source, start, end, name: name ?? operation.operation }];
    });
  });
}

/** A document with another mistake is told by other rules. */
const isOfAnotherGraph = ({ message }: { message: string }) => message.startsWith('Cannot query field');

/** What of a document cannot be read here. */
function unreadText(missing: readonly string[], hasGap: boolean, places: readonly string[]): string | undefined {
  if (hasGap) return 'not priced, because a part of it is an expression.';
  if (missing.length === 0) return undefined;
  const names = missing.join(', ');
  return `not priced, because no file of ${places.join(', ')} has ${names}. Name the file or its folder in the option fragments.`;
}

/** Without what clients take out. */
function sentTextOf(document: string): string {
  const parsed = parse(document, { noLocation: true });
  const sent = asSent(parsed);
  return sent === parsed ? document : print(sent);
}

function definitionsOf(text: string): readonly DefinitionNode[] {
  try {
    return parse(text).definitions;
  } catch {
    return []; // it is being written
  }
}

/**
 * The text with the operation and its fragments alone, each character at its place, and behind it the fragments of elsewhere; the fragments
 * that are nowhere, and whether an expression is a part of it.
 */
function documentOf(
  text: string,
  operation: DefinitionNode,
  definitions: readonly DefinitionNode[],
  find: (name: string) => string | undefined,
): { document: string; missing: string[]; hasGap: boolean } {
  const here = new Set<DefinitionNode>([operation]);
  const elsewhere = new Map<string, string>();
  const missing = new Set<string>();
  const follow = (definition: DefinitionNode): void =>
    void visit(definition, {
      FragmentSpread: ({ name: { value } }) => {
        const own = definitions.find((each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === value);
        if (own ? here.has(own) : elsewhere.has(value)) return;
        if (own) {
          here.add(own);
          return follow(own);
        }
        const found = find(value);
        if (found === undefined) missing.add(value);
        else {
          elsewhere.set(value, found);
          definitionsOf(found).forEach(follow);
        }
      },
    });
  follow(operation);
  const parts = [...[...here].map(({ loc }) => text.slice(loc!.start, loc!.end)), ...elsewhere.values()];
  const hasGap = parts.some((part) => part.includes(GAP));
  let own = text;
  for (const each of definitions)
    if (!here.has(each)) {
      const { start, end } = each.loc!;
      own = own.slice(0, start) + own.slice(start, end).replaceAll(/[^\n\r]/g, ' ') + own.slice(end);
    }
  const document = [own, ...elsewhere.values()].join('\n').replaceAll(GAP, ' ');
  return { document, missing: [...missing], hasGap };
}

function report(context: Context, { source, start, end, name }: Priced, said: string | undefined) {
  if (said === undefined) return;
  const placeOf = (at: number) => context.sourceCode.getLocFromIndex(source.start + at);
  context.report({
    loc: source.isExact ? { start: placeOf(start), end: placeOf(end) } : { start: placeOf(0), end: placeOf(0) },
    messageId: 'said',
    data: { name, said },
  });
}

const counted = (calls: number): string => `${calls} ${calls === 1 ? 'call' : 'calls'}`;

function priceText({ calls, mostExpensive }: DocumentPrice): string | undefined {
  if (!calls) return undefined;
  const { least, likely, most } = calls;
  const range = least === most ? counted(most) : `about ${counted(likely)}, ${least} to ${most}`;
  return most > 1 && mostExpensive !== null ? `${range}, most for ${mostExpensive}` : range;
}

/** A limit of the server, not a mistake in the document, of which other rules tell. */
const isLimit = ({ code }: { code: string }): boolean => /^(?:TOO_|DOCUMENT_TOO_)/.test(code);

const maxCalls: Judge = (priced, { likely = Infinity, most = Infinity }) => {
  const refused = priced.errors.find(isLimit);
  const { calls } = priced;
  const best = priced.hints[0];
  const cheaper = best ? ` Cheaper: ${best.text}.` : '';
  if (refused) return `the server refuses it. ${refused.message}${cheaper}`;
  if (!calls) return undefined;
  if (calls.likely > likely) return `${priceText(priced)}, but at most ${likely} likely are allowed.${cheaper}`;
  if (calls.most > most) return `${priceText(priced)}, but at most ${most} are allowed.${cheaper}`;
  return undefined;
};

export const meta: { readonly name: string } = { name: 'catalog-graphql-client/eslint' };

interface Parser {
  readonly meta: { readonly name: string };
  parseForESLint(text: string): { ast: object; visitorKeys: Record<string, string[]> };
}

/** Reads a `.graphql` file for these rules, where no other parser of GraphQL is. Its comments can switch rules off. */
export const parser: Parser = {
  meta,
  parseForESLint(text) {
    const breaks = [...text.matchAll(/\r\n|\n|\r/g)];
    const starts = [0, ...breaks.map(({ 0: found, index }) => index + found.length)];
    const end = { line: starts.length, column: text.length - starts.at(-1)! };
    let line = 1;
    const comments = [...text.matchAll(STRINGS_AND_COMMENTS)].flatMap(({ 0: found, index }) => {
      if (!found.startsWith('#')) return [];
      while (starts[line]! <= index) line++;
      const column = index - starts[line - 1]!;
      const loc = { start: { line, column }, end: { line, column: column + found.length } };
      return [{ type: 'Block', value: found.slice(1), range: [index, index + found.length], loc }];
    });
    const range = [0, text.length];
    const loc = { start: { line: 1, column: 0 }, end };
    return {
      ast: { type: 'Program', sourceType: 'module', body: [], tokens: [], comments, range, loc },
      visitorKeys: { Program: [] },
    };
  },
};

const about = 'An operation costs at most so many calls of the service, and the server does not refuse it.';

/** The whole module is the plugin: `import * as catalog from 'catalog-graphql-client/eslint'`. */
export const rules: { readonly 'max-calls': Rule; readonly price: Rule } = {
  'max-calls': ruleOf(about, maxCalls),
  price: ruleOf('What each operation costs.', priceText),
};
