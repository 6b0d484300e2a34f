import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { print } from 'graphql';
import { expect, test } from 'vitest';
import { findOperations } from '../../../src/config/documents/operation-files.ts';
import { afterUse } from '../../support/hooks.ts';

test('a copy of a fragment in a later file does not change the order, and so the hash, of a document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'));
  afterUse(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('a.graphql', 'fragment F on Book { title } fragment G on Book { id }');
  write('b.graphql', 'fragment F on Book { title }');
  write('c.graphql', 'query Q { book(id: "Book:1") { ...F ...G } }');
  const [found] = findOperations([folder], (path, error) => expect.fail(`${path}: ${error.message}`));
  expect(print(found!.document).match(/fragment \w/g)).toEqual(['fragment F', 'fragment G']);
});
