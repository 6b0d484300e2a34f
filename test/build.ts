import { rmSync } from 'node:fs';
import { bundle } from '../build.mjs';

/** Some tests start the program itself; it is built once, before all of them. */
export async function setup(): Promise<void> {
  await bundle().catch((error: unknown) => {
    console.error('The program does not build; tests that start it will fail.', error);
    // What does not build must not be tested in an older form; the tests that need none of it still run.
    rmSync(new URL('../dist/main.js', import.meta.url), { force: true });
  });
}
