/** Which operations of MCP_OPERATIONS can be tools. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { schema } from '../../../../../src/graph/schema.ts';
import { readReviewedOperations } from '../../../../../src/server/features/mcp/documents/operations.ts';

function read(name: string, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return readReviewedOperations(join(folder, name), schema, false);
}

test.each([
  ['a field that is not in the schema', 'tools.graphql', 'query A { book(id: 1) { pages2 } }', /pages2/],
  ['two operations of one name', 'tools.graphql', 'query A { book(id: 1) { id } } query A { book(id: 2) { id } }', /A/],
  ['an invalid document of a manifest', 'tools.json', '{"x": "query A { nothing }"}', /nothing/],
])('the start ends with a sentence because of %s', (_, name, text, problem) => {
  const start = () => read(name, text);
  expect(start).toThrow('The settings cannot be used');
  expect(start).toThrow('MCP_OPERATIONS must name operations that can be tools: ');
  expect(start).toThrow(problem);
});

test('mutations are no tools unless writes are allowed', () => {
  const text = 'query A { book(id: 1) { id } } mutation B { likeNote(input: { id: 1 }) { note { id } } }';
  expect(read('tools.graphql', text).map(({ name }) => name)).toEqual(['A']);
});
