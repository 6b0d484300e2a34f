/** The apps of examples/, started as their READMEs say, over the program with the demo data. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { publishClient } from '../../build.mjs';
import { picture } from '../support/service.ts';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { executablePath, PATIENT } from './chromium.ts';
import { type Rule, proxyTo } from './facade-proxy.ts';

const apps = ['react-relay', 'offline-apollo'] as const;
const env = { ...patientEnv, PORT: '0', ORIGIN_PORT: '0', PERSISTED_OPERATIONS: 'client/manifest.json' };
let program: Program;
let browser: Browser;
let proxy: Awaited<ReturnType<typeof proxyTo>>;
const urls = {} as Record<(typeof apps)[number], string>;
const stops: (() => void)[] = [];

beforeAll(async () => {
  if (!executablePath) return;
  program = await startProgram(env);
  proxy = await proxyTo(program.url);
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: PATIENT });
  await nameAlice();
  await publishClient(); // before both apps do
  await Promise.all(apps.map(async (name) => (urls[name] = await startApp(name))));
}, 4 * PATIENT);
afterAll(async () => {
  for (const stop of stops) stop();
  await browser?.close();
  proxy?.close();
  await program?.stop();
});

/** Makes the facade know whose token it is: otherwise the first app that reads the shelf reads it twice. */
async function nameAlice(): Promise<void> {
  await fetch(`${program.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-alice' },
    body: JSON.stringify({ query: '{ book(id: "27025715") { viewerCollection { id } } }' }),
  });
}

function startApp(name: string): Promise<string> {
  const child = spawn(process.execPath, ['examples/start.mjs', name], {
    env: { ...process.env, NODE_ENV: undefined, CATALOG_URL: proxy.url, ORIGIN_URL: program.origin, APP_PORT: '0' },
  });
  stops.push(() => child.kill());
  let out = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      out += chunk.toString();
      const [, url] = /^app +(\S+)$/m.exec(out) ?? [];
      if (url) resolve(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`examples/${name} ended with ${code}: ${out}`)));
  });
}

async function open(name: (typeof apps)[number], width: number, colorScheme: 'light' | 'dark' = 'light') {
  const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
  context.setDefaultTimeout(PATIENT);
  const page = await context.newPage();
  const failures: string[] = [];
  page.on('pageerror', (error) => failures.push(error.message));
  page.on('console', (message) => {
    if (message.text().startsWith('Nothing to compare with')) failures.push(message.text());
  });
  const { requests } = proxy;
  requests.length = 0;
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await describe(page);
    proxy.pass();
    await context.close();
  });
  await page.goto(urls[name]);
  return { context, page, failures, requests };
}

/** What a page shows and asked for, in the output of a failed test. */
async function describe(page: Page): Promise<void> {
  console.log(`${page.url()} shows: ${await page.locator('body').innerText()}`);
  for (const { method, url, body, answered } of proxy.requests)
    console.log(method, url, body.slice(0, 300), answered ?? 'was not answered');
}

/** What the page says that it transferred is what a tenth of the REST way may be. */
async function expectTenth(page: Page, requests: number): Promise<void> {
  const bytes = (id: string) => page.locator(`#${id}`).getAttribute('data-bytes').then(Number);
  await page.locator('#rest').waitFor();
  const [graph, rest] = [await bytes('graph'), await bytes('rest')];
  console.log(`${await page.title()}: ${(await page.locator('.traffic').innerText()).replaceAll('\n', ' ')}`);
  expect(await page.locator('#graph').innerText()).toMatch(new RegExp(`^${requests} requests?, `));
  expect(graph).toBeGreaterThan(500);
  expect(graph).toBeLessThanOrEqual(rest / 10);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
async function violations(page: Page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: { id: string }[] }> } };
    return (await axe.run()).violations.map(({ id }) => id);
  });
}

async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** What the service has stored. */
async function entryOf(book: string) {
  const response = await fetch(`${program.origin}/v2/book/${book}/collection`, {
    headers: { authorization: 'Bearer demo-alice' },
  });
  return (await response.json()) as { status: string; rating?: { value: string }; comment?: string; tags?: string[] };
}

const test$ = test.skipIf(!executablePath);

test$('react-relay: the page of a book is one request with deferred parts, of a tenth of the bytes', async () => {
  const { page, requests, failures } = await open('react-relay', 1280);
  await expectTenth(page, 1);
  expect(requests).toHaveLength(1);
  expect(requests[0]!.answered!['content-type']).toMatch(/^multipart\/mixed/);
  expect(await page.locator('h1').innerText()).toBe('永恒的边缘');
  for (const items of ['.series li', '.list > li']) await expect.poll(() => page.locator(items).count()).toBe(3);
  await page.locator('.series a').first().click();
  await page.locator('h1', { hasText: '巨人的陨落' }).waitFor();
  expect(failures).toEqual([]);
});

test$('react-relay: a change of the shelf is shown before the response, and a rejected one is taken back', async () => {
  const { page } = await open('react-relay', 390);
  const status = (name: string) => page.getByRole('button', { name, exact: true });
  await page.locator('#rest').waitFor();
  expect(await status('Reading').getAttribute('aria-pressed')).toBe('true');
  let respond: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (respond = resolve));
  proxy.changeBy(async ({ body }) => {
    if (body.includes('"status":"READ"')) await held;
    return 'pass';
  });
  await status('Read').click();
  await expect.poll(() => status('Read').getAttribute('aria-pressed')).toBe('true');
  expect((await entryOf('27025715')).status).toBe('reading');

  const comment = page.locator('#comment');
  const before = await comment.inputValue();
  await comment.fill('长'.repeat(351));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => page.locator('#comment-wrong').innerText()).toContain('at most 350 characters');
  expect((await entryOf('27025715')).comment).toBe(before);

  respond();
  await expect.poll(async () => (await entryOf('27025715')).status).toBe('read');
  await expect.poll(() => page.locator('.shelf [role=status]').innerText()).toBe('');
  expect(await comment.getAttribute('aria-invalid')).toBe('true'); // also after the response to the change before it
});

test$.each(apps)('%s: the address is followed from the first moment', async (name) => {
  const { page } = await open(name, 390);
  await page.addInitScript(() => {
    const change = (_: unknown, observer: MutationObserver) => {
      if (!document.querySelector('#app *')) return;
      observer.disconnect();
      location.hash = '#Book:6082808';
    };
    new MutationObserver(change).observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await page.locator('h1', { hasText: '百年孤独' }).waitFor();
});

test$('react-relay: a private entry stays private when its rating is changed', async () => {
  const { page } = await open('react-relay', 390);
  await page.locator('#rest').waitFor();
  const isPublic = async () => {
    const response = await fetch(`${program.origin}/v2/book/user/alice/collections?count=100`);
    const { collections } = (await response.json()) as { collections: { book_id: string }[] };
    return collections.some(({ book_id }) => book_id === '27025715');
  };
  expect(await isPublic()).toBe(true);
  const { status, comment } = await entryOf('27025715');
  await fetch(`${program.origin}/v2/book/27025715/collection`, {
    method: 'PUT',
    headers: { authorization: 'Bearer demo-alice', 'content-type': 'application/json' },
    body: JSON.stringify({ status, comment, privacy: 'private' }),
  });
  expect(await isPublic()).toBe(false);
  await page.getByRole('button', { name: '2 of 5' }).click();
  await expect.poll(async () => (await entryOf('27025715')).rating?.value).toBe('2');
  expect(await isPublic()).toBe(false);
});

test$(
  'react-relay: errors of a form are at their fields, and an annotation with a picture appears in the list',
  async () => {
    const { page, requests } = await open('react-relay', 1280);
    await page.getByRole('button', { name: 'Write one' }).click();
    await page.locator('#page').fill('0');
    await page.locator('#content').fill('太短');
    await page.getByRole('button', { name: 'Publish' }).click();
    await expect.poll(() => page.locator('#content-wrong').innerText()).toContain('more than 15 characters');
    expect(await page.locator('#page-wrong').innerText()).not.toBe('');
    await shoot(page, 'Relay form 1280 light');

    const count = page.locator('#annotations .soft');
    const before = Number(/\d+/.exec(await count.innerText())![0]);
    const text = '这一页写得真好，值得慢慢地读上好几遍，再抄下来。';
    await page.locator('#page').fill('7');
    await page.locator('#content').fill(text);
    const buffer = Buffer.from(await picture('png', 5_000).arrayBuffer());
    await page.locator('#picture').setInputFiles({ name: 'page.png', mimeType: 'image/png', buffer });
    await page.getByRole('button', { name: 'Publish' }).click();
    const first = page.locator('.list > li').first();
    await first.filter({ hasText: text }).waitFor();
    expect(await count.innerText()).toBe(`(${before + 1})`);
    expect(requests.at(-1)!.headers['content-type']).toMatch(/^multipart\/form-data/);
    const stored = await (await fetch((await first.locator('img').getAttribute('src'))!)).arrayBuffer();
    expect(Buffer.from(stored).equals(buffer)).toBe(true);
  },
);

/** The facade reports that these fields failed, as in an outage of the service or for a refusal. */
const failing =
  (code: string, failed: (data: Record<string, unknown>) => unknown, path?: string[]): Rule =>
  async (_request, answer) => {
    const { data } = (await answer()) as { data: Record<string, unknown> };
    failed(data);
    return { data, errors: [{ message: 'Failed.', path, extensions: { code } }] };
  };
const noAnnotations = ({ book }: Record<string, unknown>) => book && Object.assign(book, { annotations: null });
const nothing = (data: Record<string, unknown>) => Object.keys(data).forEach((name) => (data[name] = null));

test$('react-relay: a refused list says so, and a failed book is not taken for an absent one', async () => {
  const { page } = await open('react-relay', 390);
  proxy.changeBy(failing('FORBIDDEN', noAnnotations, ['book', 'annotations']));
  await page.reload();
  await page.locator('.annotations', { hasText: 'refused, or could not be loaded' }).waitFor();
  expect(await page.locator('h1').innerText()).toBe('永恒的边缘');
  await shoot(page, 'Relay refused list 390 light');
  proxy.changeBy(failing('FORBIDDEN', nothing, ['book']));
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
});

test$('offline-apollo: an outage shows what was seen last, and a refused list says so', async () => {
  const { page } = await open('offline-apollo', 390);
  const title = await openBook(page);
  const notes = page.locator('.notes li');
  const seen = await notes.count();
  expect(seen).toBeGreaterThan(0);
  await expect.poll(() => stored(page, 'cache')).toContain('"summary"');
  for (const failed of [noAnnotations, nothing]) {
    proxy.changeBy(failing('UPSTREAM_UNAVAILABLE', failed));
    // Twice: the first visit of an outage must not have stored its nulls.
    for (let visit = 0; visit < 2; visit++) {
      await page.reload();
      await page.locator('#outage').waitFor();
      expect(await page.locator('h1').innerText()).toBe(title);
      await expect.poll(() => notes.count()).toBe(seen);
    }
    proxy.pass();
  }
  await shoot(page, 'Book in an outage 390 light');
  proxy.changeBy(failing('FORBIDDEN', noAnnotations));
  await page.reload();
  await page.locator('.no-list').waitFor();
  expect(await page.locator('#outage').count()).toBe(0);
  expect(await page.locator('h1').innerText()).toBe(title);
  await shoot(page, 'Book with a refused list 390 light');
  proxy.pass();
  await page.reload();
  await expect.poll(() => notes.count()).toBe(seen);
  expect(await page.locator('.no-list').count()).toBe(0);
});

test$('react-relay: a further page that fails leaves the list as it is, and can be loaded again', async () => {
  const { page } = await open('react-relay', 390);
  await page.goto(`${urls['react-relay']}#6082808`); // it has dozens
  await page.locator('h1', { hasText: '百年孤独' }).waitFor();
  const items = page.locator('.annotations .list > li');
  await items.first().waitFor();
  const before = await items.count();
  proxy.changeBy(failing('UPSTREAM_UNAVAILABLE', ({ node }) => Object.assign(node as object, { annotations: null })));
  await expectMore(page, before, items);
});

test$('offline-apollo: the whole shelf is there offline, and in an outage it says that it may be old', async () => {
  const { page } = await open('offline-apollo', 390);
  const items = page.locator('#read li');
  await items.first().waitFor();
  const told = Number(/\d+/.exec(await page.locator('#READ-title').innerText())![0]);
  proxy.changeBy(failing('UPSTREAM_UNAVAILABLE', ({ user }) => user && Object.assign(user, { shelfChanges: null })));
  await page.reload();
  await page.locator('#outage').waitFor();
  for (let shown = await items.count(); shown < told; shown = await items.count())
    await page.locator('#read').getByRole('button', { name: 'Show more' }).click();
  expect(await items.count()).toBe(told);
});

test$('offline-apollo: an entry that was removed elsewhere goes, also from the page of its book', async () => {
  const { page } = await open('offline-apollo', 390);
  await page.locator('#read a').nth(2).click();
  await page.locator('article').waitFor();
  const book = decodeURIComponent(new URL(page.url()).hash).replace('#Book:', '');
  const pressed = page.locator('[aria-label="Status"] [aria-pressed="true"]');
  await expect.poll(() => pressed.allInnerTexts()).toEqual(['Read']);
  await fetch(`${program.origin}/v2/book/${book}/collection`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer demo-alice' },
  });
  await page.getByRole('link', { name: 'Shelf' }).click();
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.locator('#read').waitFor();
  await page.locator(`a[href="#Book:${book}"]`).waitFor({ state: 'detached' });
  await page.goto(`${urls['offline-apollo']}#Book:${book}`);
  await page.locator('article').waitFor();
  await expect.poll(() => pressed.count()).toBe(0);
});

test$('offline-apollo: a write whose result is unknown is shown, and can be dismissed', async () => {
  const { page } = await open('offline-apollo', 390);
  await openBook(page);
  proxy.changeBy(async ({ headers }) => {
    if (headers['idempotency-key'] === undefined) return 'pass';
    const error = { message: 'It may have been made.', extensions: { code: 'UPSTREAM_RESULT_UNKNOWN' } };
    return { data: null, errors: [error] };
  });
  await page.getByRole('button', { name: '1 of 5' }).click();
  const shown = page.locator('[data-state="unknown"]', { hasText: 'it is not known whether this was saved' });
  await shown.waitFor();
  await page.reload();
  await shown.waitFor();
  await shoot(page, 'Unknown write 390 light');
  await shown.getByRole('button', { name: 'Dismiss' }).click();
  await shown.waitFor({ state: 'detached' });
});

/** Loads more in an outage and after it. */
async function expectMore(page: Page, before: number, items: Locator): Promise<void> {
  const more = page.getByRole('button', { name: 'Load more' });
  await more.click();
  await page.locator('#no-more', { hasText: 'could not be loaded' }).waitFor();
  expect(await items.count()).toBe(before);
  await shoot(page, `No more ${new URL(page.url()).port}`);
  proxy.pass();
  await more.click();
  await expect.poll(() => items.count()).toBeGreaterThan(before);
  expect(await page.locator('#no-more').count()).toBe(0);
}

test$('offline-apollo: a book that was not seen before an outage is not called absent', async () => {
  const { page } = await open('offline-apollo', 390);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const unseen = page.locator('#reading a').nth(1);
  await unseen.waitFor(); // the outage begins when the shelf was read
  proxy.changeBy(failing('UPSTREAM_UNAVAILABLE', nothing));
  await unseen.click();
  for (let visit = 0; visit < 2; visit++) {
    await page.locator('main .card', { hasText: 'could not be loaded' }).waitFor();
    await page.reload();
  }
});

test$('react-relay: a page whose response was cut after its first part says so, and can be loaded again', async () => {
  const { page } = await open('react-relay', 390);
  await page.locator('.list > li').first().waitFor();
  proxy.changeBy(async ({ body }) => (body.includes('"BookPageQuery"') ? 'part' : 'pass'));
  await page.goto(`${urls['react-relay']}#6082808`);
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
  expect(await page.locator('h1').innerText()).toBe('百年孤独');
  proxy.pass();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.list > li').first().waitFor();
  expect(await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).count()).toBe(0);
});

test$('offline-apollo: a browser that refuses all storage has the shelf, and writes are sent', async () => {
  const { page, failures } = await open('offline-apollo', 390);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.addInitScript(() => {
    const refuse = () => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    };
    Object.defineProperty(IDBFactory.prototype, 'open', { value: refuse });
    Object.defineProperty(window, 'localStorage', { get: refuse });
  });
  await page.reload();
  const title = await openBook(page);
  await tap(page, 'Read');
  await page.locator('#outbox').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Shelf' }).click();
  await page.locator('#read', { hasText: title }).waitFor();
  expect(failures).toEqual([]);
});

/** Taps a button of the entry, and waits until that is shown: then it is stored. */
async function tap(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('button', { name, exact: true, pressed: true }).waitFor();
}

/** Opens the second book of the shelf, when the app can start without a network. */
async function openBook(page: Page): Promise<string> {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.locator('#reading a').nth(1).click();
  await page.locator('article').waitFor();
  return page.locator('h1').innerText();
}

test$(
  'offline-apollo: reads are GETs of trusted documents, and the page of a book has a tenth of the bytes',
  async () => {
    const { page, requests, failures } = await open('offline-apollo', 390);
    await openBook(page);
    await page.getByRole('button', { name: 'Compare with REST' }).click();
    await expectTenth(page, 1);
    // The shelf by POST, because `since` grows. Before it one of the page of the last test may come.
    expect(requests.slice(-2).map(({ method }) => method)).toEqual(['POST', 'GET']);
    for (const { url, body } of requests) expect(`${url} ${body}`).not.toMatch(/query=|"query":/);
    expect(failures).toEqual([]);
  },
);

test$('offline-apollo: what was seen is there offline, and queued writes are sent once, with their keys', async () => {
  const { context, page, requests, failures } = await open('offline-apollo', 390);
  const title = await openBook(page);
  const book = decodeURIComponent(new URL(page.url()).hash).replace('#Book:', '');
  // The shelf has the title, and only the page of the book the summary.
  await expect.poll(() => stored(page, 'cache')).toContain('"summary"');

  await context.setOffline(true);
  // A request of a page with a service worker may be made by another process, which the emulation above does not reach.
  proxy.changeBy(async () => 'cut');
  await page.reload();
  await page.locator('h1', { hasText: title }).waitFor();
  const network = page.locator('#network', { hasText: /^offline/ });
  const ground = () => network.evaluate((badge) => getComputedStyle(badge).backgroundColor);
  await expect.poll(ground).not.toBe('rgba(0, 0, 0, 0)');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Read', exact: true }).click();
  await page.getByRole('button', { name: '2 of 5' }).click();
  await page.locator('#outbox', { hasText: '2 changes wait' }).waitFor();
  await expect.poll(() => stored(page, 'outbox')).toContain('"rating":2');
  await shoot(page, 'Shelf offline 390 light');
  // The app ends and starts again: the writes are still there, and shown.
  await page.reload();
  await page.locator('#outbox', { hasText: '2 changes wait' }).waitFor();
  await page.getByRole('link', { name: 'Shelf' }).click();
  await page.locator('#read', { hasText: title }).waitFor();
  expect((await entryOf(book)).status).toBe('reading');

  requests.length = 0;
  proxy.pass();
  await context.setOffline(false);
  await page.locator('#outbox').waitFor({ state: 'detached' });
  expect(await entryOf(book)).toMatchObject({ status: 'read', rating: { value: '2' } });
  const keys = requests.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key).toMatch(/^[!-~]{16,}$/);
  await expect.poll(() => stored(page, 'outbox')).toBe('[]');
  await page.locator('#read', { hasText: title }).waitFor();
  expect(failures).toEqual([]);
});

test$('offline-apollo: a book to read is on the shelf, also when the app is opened again', async () => {
  const { page } = await open('offline-apollo', 390);
  const title = await openBook(page);
  await tap(page, 'Want to read');
  await page.locator('#outbox').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Shelf' }).click();
  await page.reload();
  await page.locator('#wish', { hasText: title }).waitFor();
});

test$('offline-apollo: what was tapped offline harms nothing that other devices or the person have there', async () => {
  const { context, page } = await open('offline-apollo', 390);
  const headers = { authorization: 'Bearer demo-alice', 'content-type': 'application/json' };
  const write = (method: string, book: string, body?: object) =>
    fetch(`${program.origin}/v2/book/${book}/collection`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
  const isShown = async (book: string) =>
    (await fetch(`${program.origin}/v2/book/${book}/collection?user_id=alice`)).status === 200;
  const goOffline = async (isOff: boolean) => {
    proxy.changeBy(async () => (isOff ? 'cut' : 'pass'));
    await context.setOffline(isOff);
  };
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.locator('#read a').nth(3).click();
  await page.locator('article').waitFor();
  const book = decodeURIComponent(new URL(page.url()).hash).replace('#Book:', '');
  await write('PUT', book, { status: 'read', rating: '4', tags: '一 二', comment: '只给自己看', privacy: 'private' });
  await page.reload();
  await page
    .locator('#entry')
    .getByRole('img', { name: /^private/ })
    .waitFor();
  await shoot(page, 'Private entry 390 light');

  // A tap offline, while another device changes the tags.
  await goOffline(true);
  await page.getByRole('button', { name: '2 of 5' }).click();
  await page.locator('#outbox', { hasText: '1 change waits' }).waitFor();
  await write('PUT', book, { status: 'read', rating: '4', tags: '别的', comment: '只给自己看', privacy: 'private' });
  await goOffline(false);
  const conflict = page.locator('[data-state="conflict"]', { hasText: '别的' });
  await conflict.waitFor();
  await shoot(page, 'Conflict 390 light');
  expect(await entryOf(book)).toMatchObject({ rating: { value: '4' }, tags: ['别的'] });
  await conflict.getByRole('button', { name: 'Save again' }).click();
  await conflict.waitFor({ state: 'detached' });
  await expect.poll(async () => (await entryOf(book)).rating?.value).toBe('2');
  expect(await entryOf(book)).toMatchObject({ tags: ['别的'], comment: '只给自己看' });
  expect(await isShown(book)).toBe(false);

  // A tap offline, while another device takes the book off the shelf.
  await page.locator('#outbox').waitFor({ state: 'detached' });
  await goOffline(true);
  await page.getByRole('button', { name: '5 of 5' }).click();
  await page.locator('#outbox', { hasText: '1 change waits' }).waitFor();
  await write('DELETE', book);
  await goOffline(false);
  const gone = page.locator('[data-state="gone"]', { hasText: 'taken off your shelf' });
  await gone.waitFor();
  expect((await write('GET', book)).status).toBe(404);
  await gone.getByRole('button', { name: 'Dismiss' }).click();
  await gone.waitFor({ state: 'detached' });
  expect((await write('GET', book)).status).toBe(404);
});

test$('offline-apollo: a write whose response is lost is sent again with the same key', async () => {
  const { page, requests } = await open('offline-apollo', 390);
  await openBook(page);
  const other = await page.locator('.star[aria-pressed="false"]').first().getAttribute('aria-label');
  const rating = page.getByRole('button', { name: other! }); // a write that changes nothing is not made
  let lost = 0;
  proxy.changeBy(async ({ headers }, answer) => {
    if (headers['idempotency-key'] === undefined || lost++ > 0) return 'pass';
    await answer(); // the service has made the write
    return 'cut';
  });
  await rating.click();
  await expect.poll(() => lost).toBe(2);
  await page.locator('#outbox').waitFor({ state: 'detached' });
  const keys = requests.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  // The facade did not make the write again.
  const again = requests.filter(({ headers }) => 'idempotency-key' in headers)[1]!;
  expect(again.answered!['idempotency-replayed']).toBe('true');
  expect(await rating.getAttribute('aria-pressed')).toBe('true');
});

/** What the app has in IndexedDB, as text: its cache, or the rows of a table. */
const stored = (page: Page, name: 'cache' | 'outbox'): Promise<string> =>
  page.evaluate(
    ([database, store, key]) =>
      new Promise<string>((resolve, reject) => {
        const opening = indexedDB.open(database!);
        opening.onerror = () => reject(new Error('no database'));
        opening.onsuccess = () => {
          const rows = opening.result.transaction(store!).objectStore(store!);
          const reading = (key === undefined ? rows.getAll() : rows.get(key)) as IDBRequest<unknown>;
          reading.onsuccess = () => {
            opening.result.close();
            resolve(JSON.stringify(reading.result ?? null));
          };
        };
      }),
    name === 'cache' ? ['keyval-store', 'keyval', 'cache'] : ['outbox', 'rows'],
  );

test$.each([
  ['react-relay', 1280, 'light'],
  ['react-relay', 390, 'dark'],
  ['offline-apollo', 1280, 'dark'],
  ['offline-apollo', 390, 'light'],
] as const)(
  '%s at %i pixels, %s: nothing that axe-core finds, and nothing beside the screen',
  async (name, width, scheme) => {
    const { page } = await open(name, width, scheme);
    const expectGood = async (shown: string) => {
      await page.waitForLoadState('networkidle');
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await shoot(page, `${name} ${shown} ${width} ${scheme}`);
    };
    await page
      .locator(name === 'react-relay' ? '#rest' : '#reading li')
      .first()
      .waitFor();
    await expectGood('first');
    if (name === 'react-relay') {
      await page.getByRole('button', { name: 'Write one' }).click();
      await expectGood('form');
      return;
    }
    await openBook(page);
    await expectGood('book');
  },
);

test$.each(apps)('%s: its lock file names no host', (name) => {
  const lock = `examples/${name}/package-lock.json`;
  expect(existsSync(lock)).toBe(true);
  expect(readFileSync(lock, 'utf8')).not.toMatch(/"resolved": "https?:/);
});
