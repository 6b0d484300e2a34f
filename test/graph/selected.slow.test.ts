/** Each field with a resolver of its own is selected by a document of a test: otherwise nothing shows what it returns. */
import { readFileSync, readdirSync } from 'node:fs';
import {
  TypeInfo,
  defaultFieldResolver,
  isInterfaceType,
  isObjectType,
  parse,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';

const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.includes('node_modules'),
);
const shipped = readdirSync('operations').map((file) => readFileSync(`operations/${file}`, 'utf8'));

/** The strings of a file, with the constants of the file in the place of their names. What is computed is left out. */
function stringsIn(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(`test/${file}`, 'utf8'), ts.ScriptTarget.Latest, true);
  const constants: { name: string; initializer: ts.Expression }[] = [];
  const found: ts.Expression[] = [];
  const walk = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      constants.push({ name: node.name.text, initializer: node.initializer });
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) found.push(node);
    ts.forEachChild(node, walk);
  };
  walk(source);
  const textOf = (node: ts.Expression, depth = 0): string => {
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isNumericLiteral(node)) return node.text;
    const isOf = ({ name, initializer }: (typeof constants)[number]) =>
      ts.isIdentifier(node) && name === node.text && initializer.end < node.pos;
    const constant = constants.findLast(isOf);
    if (constant && depth < 9) return textOf(constant.initializer, depth + 1);
    if (!ts.isTemplateExpression(node)) return '';
    return (
      node.head.text + node.templateSpans.map((each) => textOf(each.expression, depth) + each.literal.text).join('')
    );
  };
  return found.map((node) => textOf(node));
}

const operationsIn = (text: string): string[] =>
  /^(?:#|query|mutation|fragment|\{)/.test(text) ? [text] : [`{ ${text} }`, `mutation { ${text} }`];

/** The coordinates that a document selects, or that the fields of one select; none if the text is no document. */
function selectedIn(text: string): string[] {
  const found: string[] = [];
  const info = new TypeInfo(schema);
  const Field = ({ name }: { name: { value: string } }): void => {
    const parent = info.getParentType();
    const types = isInterfaceType(parent) ? schema.getPossibleTypes(parent) : parent ? [parent] : [];
    found.push(...types.map((type) => `${type.name}.${name.value}`));
  };
  try {
    for (const each of operationsIn(text.trim())) visit(parse(each), visitWithTypeInfo(info, { Field }));
  } catch {
    return [];
  }
  return found;
}

test('a test selects each field that is computed', () => {
  const texts = [...shipped, ...files.flatMap(stringsIn)].filter((text) => text.includes('{'));
  const selected = new Set(texts.flatMap(selectedIn));
  const computed = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => field.resolve && field.resolve !== defaultFieldResolver && !fieldRule(field).endpoint)
        .map(({ name }) => `${type.name}.${name}`),
    );
  expect(computed.length).toBeGreaterThan(500);
  expect(computed.filter((name) => !selected.has(name))).toEqual([]);
});
