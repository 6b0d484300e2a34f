import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page, Request, Response } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { executablePath, PATIENT } from './chromium.ts';

/** The tabs in their order, and what the answer of each begins with. */
const pages = [
  ['Book', 'book.title'],
  ['Film', 'subject.title'],
  ['Celebrity', 'celebrity.works.nodes.0.subject.title'],
  ['Charts', 'comingSoon.nodes.0.title'],
  ['Shelf', 'user.reading.nodes.0.book.title'],
  ['Annotations', 'book.annotations.edges.0.node.blocks.0.spans.0.text'],
  ['Diary', 'user.notes.edges.0.node.comments.nodes.0.author.name'],
  ['City', 'city.inTheaters.nodes.0.title'],
  ['Event', 'event.participants.nodes.0.name'],
  ['Dashboard', 'searchBooks.nodes.0.title'],
  ['Collect', 'collectBook.book.viewerCollection.comment'],
  ['Annotate', 'createAnnotation.annotation.content'],
  ['WriteNote', 'createNote.note.title'],
] as const;

let program: Program;
let browser: Browser;
beforeAll(async () => {
  if (!executablePath) return;
  program = await startProgram({ PORT: '0', ORIGIN_PORT: '0' });
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: PATIENT });
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
});

let page: Page;
let elsewhere: string[];
let broken: string[];
beforeEach(async () => {
  if (!executablePath) return;
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  context.setDefaultTimeout(PATIENT);
  page = await context.newPage();
  elsewhere = [];
  broken = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== program.url) elsewhere.push(request.url());
  });
  page.on('pageerror', (error) => broken.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) broken.push(message.text());
  });
  await page.goto(`${program.url}/graphql`);
  await page.waitForSelector('.graphiql-execute-button');
  return async () => {
    expect(elsewhere).toEqual([]);
    expect(broken).toEqual([]);
    await context.close();
  };
});

test.skipIf(!executablePath)('GraphiQL opens with every page of ours, a tab each', async () => {
  const tabs = await page.locator('.graphiql-tab').allInnerTexts();
  // After them come a tab that explains, and whatever else lies in the folder.
  expect(tabs.slice(0, pages.length + 1).map((tab) => tab.trim())).toEqual([...pages.map(([name]) => name), 'Explain']);
  expect(tabs).toHaveLength(readdirSync('operations').length);
});

test.skipIf(!executablePath)('each page answers a click on run, as the demo reader, and shows what came', async () => {
  for (const [index, [name, place]] of pages.entries()) {
    const { data, errors } = await run(index, name);
    expect([name, errors]).toEqual([name, undefined]);
    const text = place.split('.').reduce((value, member) => value?.[member], data);
    expect([place, text]).toEqual([place, expect.stringMatching(/\S/)]);
    await shows(`"${Object.keys(data)[0]}"`);
    await picture(name);
  }
});

test.skipIf(!executablePath)('the last tab tells what a page would cost, and calls nothing', async () => {
  const { data, extensions } = await run(pages.length, 'Explain');
  expect([data, extensions.upstream]).toEqual([null, expect.anything()]);
  await shows('PLANNED_NOT_RUN');
  await picture('Explain');
});

test.skipIf(!executablePath)('below it are the calls of the operation, on one axis of time, and no token', async () => {
  const { data, extensions } = await run(0, 'Book');
  const { calls } = extensions.upstream;
  await page
    .locator('.calls tbody tr')
    .nth(calls.length - 1)
    .waitFor();
  expect(await page.locator('.calls tbody tr').count()).toBe(calls.length);
  for (const call of calls) {
    const title = `${call.method} ${decodeURIComponent(call.path)}`;
    const row = page.locator('.calls tbody tr', { has: page.getByTitle(title, { exact: true }) });
    const text = await row.innerText();
    for (const told of [call.field, call.cached ? 'cached' : String(call.status)]) expect(text).toContain(told);
    if (!call.fields) continue;
    await row.locator('summary').click();
    expect(await row.innerText()).toContain(decodeURIComponent(call.fields).replaceAll(',', ', '));
  }
  const made = calls.filter(({ cached }: { cached?: boolean }) => !cached).length;
  expect(await page.locator('.calls-totals').innerText()).toMatch(new RegExp(`^${made} calls? in \\d waves?.* · `));
  expect(await page.locator('.calls').innerText()).not.toContain('demo-alice');
  // The answer is that of any client.
  await shows(data.book.title);
  expect(await page.locator('.result-window').innerText()).not.toContain('upstream');

  const line = async (field: string) => {
    const cell = page.getByRole('cell', { name: field, exact: true });
    return (await page.locator('.calls tbody tr', { has: cell }).locator('.calls-line').boundingBox())!;
  };
  const [book, series] = [await line('book'), await line('book.series.books')];
  expect(series.x).toBeGreaterThanOrEqual(book.x + book.width - 1); // it waited for the book
});

test.skipIf(!executablePath)('what was kept is marked, what is planned is told', async () => {
  await run(3, 'Charts');
  await run(3, 'Charts');
  await page.locator('.calls-totals', { hasText: /^No call · \d+ spared$/ }).waitFor();
  expect(await page.locator('.calls-kept').count()).toBeGreaterThan(10);

  const { extensions } = await run(pages.length, 'Explain');
  const { min, max, fields } = extensions.upstream;
  await page.locator('.calls-totals', { hasText: `Planned, not run: ${min} to ${max} calls` }).waitFor();
  expect(await page.locator('.calls tbody tr').count()).toBe(fields.length);
});

test.skipIf(!executablePath)('calls of what comes later are waited for', async () => {
  const later = 'query Later { viewer { isLoggedIn } ... @defer { book(id: "1084336") { title } } }';
  await page.goto(`${program.url}/graphql?query=${encodeURIComponent(later)}`);
  const told = page.locator('.calls-totals', { hasText: '1 call in 1 wave' });
  await execute('Later');
  await told.waitFor();
  await picture('Later');
});

test.skipIf(!executablePath)('the calls are folded away by the keyboard, and stay so', async () => {
  await run(0, 'Book');
  await page.locator('.calls tbody tr').first().waitFor();
  const bar = page.getByRole('button', { name: /^Calls/ });
  const isShown = () => page.locator('.calls-list').isVisible();
  expect([await bar.getAttribute('aria-expanded'), await isShown()]).toEqual(['true', true]);
  const height = async () => (await page.locator('.graphiql-main').boundingBox())!.height;
  const before = await height();
  await bar.focus();
  await page.keyboard.press('Enter');
  expect([await bar.getAttribute('aria-expanded'), await isShown()]).toEqual(['false', false]);
  expect(await height()).toBeGreaterThan(before); // the room is GraphiQL's again
  await page.reload();
  expect(await bar.getAttribute('aria-expanded')).toBe('false');
  await bar.focus();
  await page.keyboard.press('Space');
  expect(await bar.getAttribute('aria-expanded')).toBe('true');
});

test.skipIf(!executablePath)('they are legible in both themes', async () => {
  await run(0, 'Book');
  await page.locator('.calls tbody tr').first().waitFor();
  for (const theme of ['light', 'dark'] as const) {
    for (const [colorScheme, chosen] of [
      [theme, ''],
      [theme === 'dark' ? 'light' : 'dark', `graphiql-${theme}`],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate((name) => {
        document.body.classList.remove('graphiql-light', 'graphiql-dark');
        if (name) document.body.classList.add(name);
      }, chosen);
      for (const text of [
        '.calls-title',
        '.calls-totals',
        '.calls th',
        '.calls-path',
        '.calls-method',
        '.calls-status',
      ]) {
        const { ink, ground } = await colours(text);
        expect(ground[0]! > 128, theme).toBe(theme === 'light');
        expect(contrast(ink, ground), `${text} ${theme}`).toBeGreaterThanOrEqual(4.5);
      }
      await picture(`Calls ${theme}${chosen && ' chosen'}`);
    }
  }
});

test.skipIf(!executablePath)('a front end collects a book, sees it on the shelf, and removes it', async () => {
  const shelf = '{ user(id: "alice") { bookCollections(first: 1) { nodes { comment book { sourceId title } } } } }';
  const collect = `mutation ($book: ID!) { collectBook(input: { bookId: $book, status: READ, comment: "从浏览器", private: false, onConflict: UPDATE }) {
    book { title viewerCollection { status comment } }
  } }`;
  const remove =
    'mutation ($book: ID!) { deleteCollection(input: { bookId: $book }) { book { viewerCollection { status } } } }';
  const book = '6082808';

  const collected = await ask(collect, { book });
  expect(collected.data.collectBook.book.viewerCollection).toEqual({ status: 'READ', comment: '从浏览器' });
  const [first] = (await ask(shelf)).data.user.bookCollections.nodes;
  expect(first).toEqual({
    comment: '从浏览器',
    book: { sourceId: book, title: collected.data.collectBook.book.title },
  });
  expect((await ask(remove, { book })).data).toEqual({ deleteCollection: { book: { viewerCollection: null } } });
  expect((await ask(shelf)).data.user.bookCollections.nodes[0]?.book.sourceId).not.toBe(book);
});

/** Asks from a script of the page, as a front end does. */
const ask = (query: string, variables: object = {}) =>
  page.evaluate(async (body) => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
    const response = await fetch('/graphql', { method: 'POST', headers, body });
    return response.json();
  }, JSON.stringify({ query, variables }));

/** Red, green and blue of a text and of the panel it stands on. */
const colours = (selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const read = (colour: string) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
      const panel = element.closest('.calls') ?? element;
      return { ink: read(getComputedStyle(element).color), ground: read(getComputedStyle(panel).backgroundColor) };
    });

/** As WCAG 2 computes it. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}
function luminance(colour: readonly number[]): number {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Opens a tab, clicks on run, and gives what came over the wire. */
async function run(tab: number, operation: string) {
  await page.locator('.graphiql-tab').nth(tab).click();
  return await (await execute(operation)).json();
}

async function execute(operation: string): Promise<Response> {
  await page.locator('.graphiql-query-editor', { hasText: ` ${operation}` }).waitFor();
  const asked: Request[] = [];
  const isAsked = page
    .waitForRequest((request) => request.postData()?.includes(` ${operation}`) ?? false)
    .then(
      (request) => asked.push(request),
      () => undefined, // the clicks are counted
    );
  // GraphiQL misses a click while it is still taking in the text of a tab. One that it took is not made again: it would run twice.
  for (let clicks = 0; clicks < 3 && asked.length === 0; clicks++) {
    await page.getByRole('button', { name: 'Execute query' }).click();
    await Promise.race([isAsked, page.waitForTimeout(3_000)]);
    await page.evaluate(() => undefined); // what it has sent meanwhile is told before
  }
  const answer = await asked[0]?.response();
  if (!answer) throw new Error(`${operation} does not run`);
  expect(answer.request().headers().authorization).toBe('Bearer demo-alice');
  return answer;
}

/** Waits until the answer's side of the page has this text. */
async function shows(text: string): Promise<void> {
  await page.locator('.result-window', { hasText: text }).waitFor();
}

/** To be looked at: SCREENSHOTS=/tmp/pages npm run test:browser. */
async function picture(name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
