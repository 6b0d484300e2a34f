/** Work to do after each test and each test file. The files of a worker share modules: hooks of a helper itself would run in the first file only. */
import { TestRunner, afterAll, afterEach, onTestFinished } from 'vitest';

type Hook = () => void | Promise<void>;
const ofFiles: Hook[] = [];
const ofTests: Hook[] = [];

export const afterEachFile = (hook: Hook): void => void ofFiles.push(hook);

/** A hook that throws fails the test. What the hooks of the file make happen counts too: it fails the file. */
export const afterEachTest = (hook: Hook): void => void ofTests.push(hook);

/** Closes what a helper has opened, after its test; after the file if none runs yet. Vitest ignores an `afterAll` within a test. */
export function afterUse(close: () => unknown): void {
  const hook = async () => void (await close());
  if (TestRunner.getCurrentTest()) onTestFinished(hook);
  else afterAll(hook);
}

const runAll = async (hooks: readonly Hook[]): Promise<void> => {
  for (const hook of hooks) await hook();
};

/** Called by the setup file, which runs before each test file. */
export function registerHooks(): void {
  afterEach(() => runAll(ofTests));
  afterAll(() => runAll([...ofTests, ...ofFiles]));
}
