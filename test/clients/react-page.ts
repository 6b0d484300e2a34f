/** A page without a browser, for what React shows. */
import type { createRoot } from 'react-dom/client';
import { afterAll, vi } from 'vitest';

/** Has no types: those of jsdom bring a version of the types of Node. */
const jsdom: string = 'jsdom';
const { JSDOM } = (await import(jsdom)) as { JSDOM: new (html: string) => { window: Window & typeof globalThis } };

interface Page {
  window: Window & typeof globalThis;
  createRoot: typeof createRoot;
}

/** An empty page, whose window is the global one until the end of the file of tests. */
export async function reactPage(): Promise<Page> {
  const { window } = new JSDOM('<!doctype html>');
  vi.stubGlobal('window', window);
  vi.stubGlobal('document', window.document);
  vi.stubGlobal('navigator', window.navigator);
  afterAll(() => vi.unstubAllGlobals());
  // It looks for a document when it is imported, once for all files of a worker.
  const { createRoot } = await import('react-dom/client');
  return { window, createRoot };
}
