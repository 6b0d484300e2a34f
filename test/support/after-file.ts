/** Work to do after each test file. The files of a worker share modules, so `afterAll` of a helper would run after the first file only. */
import { afterAll } from 'vitest';

const hooks: (() => void | Promise<void>)[] = [];

export const afterEachFile = (hook: () => void | Promise<void>): void => void hooks.push(hook);

/** Called by the setup file, which runs before each test file. */
export function runHooksAfterFile(): void {
  afterAll(async () => {
    for (const hook of hooks) await hook();
  });
}
