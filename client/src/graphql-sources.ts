/** The GraphQL documents in a file: all of it, or its tagged templates. */

/** What this needs of the syntax tree of a script. */
export interface ScriptNode {
  readonly type: string;
  readonly range: readonly [number, number];
  readonly name?: string;
  readonly value?: unknown;
  readonly tag?: ScriptNode;
  readonly quasi?: ScriptNode;
  readonly callee?: ScriptNode;
  readonly arguments?: readonly ScriptNode[];
  readonly expressions?: readonly ScriptNode[];
}

export interface GraphqlSource {
  readonly text: string;
  /** Where it begins in the file. */
  readonly start: number;
  /** Whether each character is at its place in the file, so that the text can be edited. */
  readonly isExact: boolean;
}

/** In the place of each character of an expression: GraphQL ignores it, and no document is written with it. */
export const GAP = '\uFEFF';

export const isGraphqlFile = (name: string): boolean => /\.(?:graphql|gql)$/.test(name);

/** The document of a template or string that is tagged by one of the names, or the argument of a function with such a name. */
export function taggedSource(node: ScriptNode, file: string, tags: readonly string[]): GraphqlSource | undefined {
  const named = node.tag ?? node.callee;
  if (named?.type !== 'Identifier' || !tags.includes(named.name ?? '')) return undefined;
  const content = node.quasi ?? node.arguments?.[0];
  return content && contentOf(content, file);
}

export function contentOf(node: ScriptNode, file: string): GraphqlSource | undefined {
  const isString = node.type === 'Literal' && typeof node.value === 'string';
  if (!isString && node.type !== 'TemplateLiteral') return undefined;
  const start = node.range[0] + 1;
  let text = file.slice(start, node.range[1] - 1);
  // The fragments of other templates are found by their names.
  for (const { range } of node.expressions ?? []) {
    const from = text.lastIndexOf('${', range[0] - start);
    const to = text.indexOf('}', range[1] - start) + 1;
    text = text.slice(0, from) + GAP.repeat(to - from) + text.slice(to);
  }
  return text.includes('\\') ? { text: unescaped(text), start, isExact: false } : { text, start, isExact: true };
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
const unescaped = (text: string): string => text.replace(/\\(.)/gs, (_, char: string) => escapes[char] ?? char);
