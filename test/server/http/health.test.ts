import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { createHealth } from '../../../src/server/http/health.ts';
import { hostile } from '../../support/hostile.ts';

afterEach(() => void vi.useRealTimers());

test('readiness is checked again after a while, even if the clock was set back', async () => {
  const service = await hostile();
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const health = createHealth(readConfig({ BASE_URL: service.url, EVENT_BASE_URL: service.url }));
  expect(await health.check()).toMatchObject({ ready: true });
  await service.close();
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  expect(await health.check()).toMatchObject({ ready: false });
});
