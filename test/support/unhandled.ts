import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/**
 * Fails each test of a file in which an error was thrown that nobody caught, or a promise was rejected that nobody handled: either would
 * have ended a process. Vitest reports them too, but only for the run as a whole.
 */
export function failOnUnhandledErrors(): void {
  let unhandled: string[] = [];
  const note = (error: unknown) => void unhandled.push(error instanceof Error ? String(error.stack) : String(error));
  beforeAll(() => {
    process.on('uncaughtException', note).on('unhandledRejection', note);
  });
  afterEach(async () => {
    // Node looks for unhandled rejections when the turn is over.
    await new Promise((resolve) => setImmediate(resolve));
    const seen = unhandled;
    unhandled = [];
    expect(seen, 'errors that nobody handled').toEqual([]);
  });
  afterAll(() => {
    process.off('uncaughtException', note).off('unhandledRejection', note);
  });
}

/** The lines of a program's output that are of a stack, or hold one in JSON. */
export const stacksIn = (text: string): string[] =>
  text.split('\n').filter((line) => /^\s+at .*:\d+|\\n\s+at .*:\d+/.test(line));
