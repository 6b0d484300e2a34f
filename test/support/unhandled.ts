import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/**
 * Fails each test of a file in which an uncaught exception or an unhandled rejection occurs, which would end a process.
 * Vitest reports them too, but only for the whole run.
 */
export function failOnUnhandledErrors(): void {
  let unhandled: string[] = [];
  const note = (error: unknown) => void unhandled.push(error instanceof Error ? String(error.stack) : String(error));
  beforeAll(() => {
    process.on('uncaughtException', note).on('unhandledRejection', note);
  });
  afterEach(async () => {
    // Node reports unhandled rejections at the end of the turn.
    await new Promise((resolve) => setImmediate(resolve));
    const seen = unhandled;
    unhandled = [];
    expect(seen, 'errors that nobody handled').toEqual([]);
  });
  afterAll(() => {
    process.off('uncaughtException', note).off('unhandledRejection', note);
  });
}

/** The lines of a program's output that belong to a stack trace, also as JSON. */
export const stacksIn = (text: string): string[] =>
  text.split('\n').filter((line) => /^\s+at .*:\d+|\\n\s+at .*:\d+/.test(line));
