import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defects } from './campaign/defects.mjs';

const root = new URL('../../../../', import.meta.url);

test('each planted defect applies to the sources as they are', () => {
  for (const { name, edits } of defects)
    for (const [file, before] of edits)
      expect([name, before, readFileSync(new URL(file, root), 'utf8').split(before).length]).toEqual([name, before, 2]);
});
