import { expect, test } from 'vitest';
import { afterPendingReads } from '../../src/lib/deadlines.ts';

test('what has arrived is read before a deadline counts', async () => {
  const steps: string[] = [];
  const late = new Promise<void>((resolve) => {
    afterPendingReads(() => {
      steps.push('late');
      resolve();
    });
  });
  setImmediate(() => {
    steps.push('read');
    setImmediate(() => steps.push('read after that'));
  });
  await late;
  expect(steps).toEqual(['read', 'late']);
});
