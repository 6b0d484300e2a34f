import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, Page, Request, Response } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { executablePath, PATIENT, saysOnClick } from './chromium.ts';

/** The examples, and the path of a text in the response of each. */
const pages = [
  ['Book', 'book.title'],
  ['Film', 'subject.title'],
  ['Celebrity', 'celebrity.works.nodes.0.subject.title'],
  ['Charts', 'comingSoon.nodes.0.title'],
  ['Shelf', 'user.reading.nodes.0.book.title'],
  ['ShelfSync', 'user.shelfChanges.nodes.0.book.title'],
  ['Annotations', 'book.annotations.edges.0.node.blocks.0.spans.0.text'],
  ['Diary', 'user.notes.edges.0.node.comments.nodes.0.author.name'],
  ['City', 'city.inTheaters.nodes.0.title'],
  ['Event', 'event.participants.nodes.0.name'],
  ['Dashboard', 'searchBooks.nodes.0.title'],
  ['Collect', 'collectBook.book.viewerCollection.comment'],
  ['UpdateCollection', 'updateCollection.book.viewerCollection.comment'],
  ['DeleteCollection', 'deleteCollection.book.id'],
  ['Annotate', 'createAnnotation.annotation.content'],
  ['UpdateAnnotation', 'updateAnnotation.annotation.content'],
  ['WriteNote', 'createNote.note.title'],
  ['UpdateNote', 'updateNote.note.title'],
  ['WriteReview', 'createReview.review.title'],
  ['ReplaceReview', 'replaceReview.review.title'],
] as const;

let program: Program;
let browser: Browser;
beforeAll(async () => {
  if (!executablePath) return;
  program = await startProgram({ ...patientEnv, PORT: '0', ORIGIN_PORT: '0' });
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: PATIENT });
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
});

let page: Page;
let external: string[];
let failures: string[];
beforeEach(async () => {
  if (!executablePath) return;
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  context.setDefaultTimeout(PATIENT);
  page = await context.newPage();
  external = [];
  failures = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== program.url) external.push(request.url());
  });
  page.on('pageerror', (error) => failures.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) failures.push(message.text());
  });
  await page.goto(`${program.url}/graphql`);
  await editors();
  return async () => {
    expect(external).toEqual([]);
    expect(failures).toEqual([]);
    await context.close();
  };
});

test.skipIf(!executablePath)('GraphiQL opens with one tab, and a menu has each published operation', async () => {
  expect(await page.locator('.graphiql-tab').allInnerTexts()).toEqual(['Start']);
  const labels = await menu()
    .locator('optgroup')
    .evaluateAll((all) => all.map((each) => (each as HTMLOptGroupElement).label));
  expect(labels).toEqual(['Queries', 'Mutations']);
  const values = await menu()
    .locator('optgroup option')
    .evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value));
  const files = readdirSync('operations').map((file) => file.replace('.graphql', ''));
  expect(values.toSorted()).toEqual(files.toSorted());
  expect(values[0]).toBe('book');
});

test.skipIf(!executablePath)('the tab to begin with runs, fits a telephone and says how it is run', async () => {
  const text = await documentText();
  expect(text).toMatch(/^# Run it: ▶ or Ctrl-Enter\./);
  await page.locator('.calls-price', { hasText: 'Costs' }).waitFor();
  const { data, errors } = await (await execute('Start')).json();
  expect([errors, data.book.title, data.top250.nodes.length]).toEqual([undefined, '百年孤独', 3]);
  await waitForResult('"top250"');
  await picture('Start');
  // Without a change of the document the price is another one, and says why.
  await page
    .locator('.calls-price', { hasText: 'Costs about 2 calls, 0 to 2: fewer, because records are cached' })
    .waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await page.locator('.price-mark').nth(1).waitFor();
  expect((await page.locator('.site .mark svg').boundingBox())!.width).toBe(24);
  const edge = (await page.locator('.graphiql-query-editor .monaco-editor').first().boundingBox())!;
  for (const line of await page.locator('.graphiql-query-editor .view-line > span').all()) {
    const { x, width } = (await line.boundingBox())!;
    expect(x + width).toBeLessThanOrEqual(edge.x + edge.width);
  }
});

test.skipIf(!executablePath)('each example runs on a click as the demo user, and displays its response', async () => {
  for (const [name, place] of pages) {
    const { data, errors } = await run(name);
    expect([name, errors]).toEqual([name, undefined]);
    const text = place.split('.').reduce((value, member) => value?.[member], data);
    expect([place, text]).toEqual([place, expect.stringMatching(/\S/)]);
    await waitForResult(`"${Object.keys(data)[0]}"`);
    await picture(name);
  }
});

test.skipIf(!executablePath)('the example Explain displays the planned cost, without a call', async () => {
  const { data, extensions } = await run('Explain');
  expect([data, extensions.upstream]).toEqual([null, expect.anything()]);
  await waitForResult('PLANNED_NOT_RUN');
  await picture('Explain');
});

test.skipIf(!executablePath)(
  'the panel below displays the calls of the operation on one time axis, without a token',
  async () => {
    const { data, extensions } = await run('Book');
    const { calls } = extensions.upstream;
    await page
      .locator('.calls-list tbody tr')
      .nth(calls.length - 1)
      .waitFor();
    expect(await page.locator('.calls-list tbody tr').count()).toBe(calls.length);
    expect((await page.locator('.calls-list th').allInnerTexts()).slice(0, 6)).toEqual([
      'Call',
      'Fields',
      'Requested by',
      'Status',
      'Time',
      'Bytes',
    ]);
    for (const call of calls) {
      const title = `${call.method} ${decodeURIComponent(call.path)}`;
      const row = page.locator('.calls-list tbody tr', { has: page.getByTitle(title, { exact: true }) });
      const text = await row.innerText();
      for (const part of [call.field, call.how === 'cached' ? 'cached' : String(call.status)])
        expect(text).toContain(part);
      if (!call.fields) continue;
      await row.locator('summary').click();
      expect(await row.innerText()).toContain(decodeURIComponent(call.fields).replaceAll(',', ', '));
    }
    const made = calls.filter(({ how }: { how: string }) => how !== 'cached').length;
    expect(await page.locator('.calls-totals').innerText()).toMatch(new RegExp(`^${made} calls? in \\d waves?.* · `));
    expect(await page.locator('.calls').innerText()).not.toContain('demo-alice');
    // The response is displayed without extensions, as any client gets it.
    await waitForResult(data.book.title);
    expect(await page.locator('.result-window').innerText()).not.toContain('upstream');

    const line = async (field: string) => {
      const cell = page.getByRole('cell', { name: field, exact: true });
      return (await page.locator('.calls-list tbody tr', { has: cell }).locator('.calls-line').boundingBox())!;
    };
    const [book, series] = [await line('book'), await line('book.series.books')];
    expect(series.x).toBeGreaterThanOrEqual(book.x + book.width - 3); // it waited for the book; a line has at least 3 px
  },
);

test.skipIf(!executablePath)('cached calls are marked, and planned calls are displayed', async () => {
  await run('Charts');
  await run('Charts');
  await page.locator('.calls-totals', { hasText: /^No call · \d+ avoided$/ }).waitFor();
  expect(await page.locator('.calls-cached').count()).toBe(6);

  const { extensions } = await run('Explain');
  const { min, max, fields } = extensions.upstream;
  await page.locator('.calls-totals', { hasText: `Planned, not run: ${min} to ${max} calls` }).waitFor();
  expect(await page.locator('.calls-list tbody tr').count()).toBe(fields.length);
});

test.skipIf(!executablePath)('calls of deferred fields are displayed when they are complete', async () => {
  const later = 'query Later { viewer { isLoggedIn } ... @defer { book(id: "1084336") { title } } }';
  await page.goto(`${program.url}/graphql?query=${encodeURIComponent(later)}`);
  const totals = page.locator('.calls-totals', { hasText: '1 call in 1 wave' });
  await execute('Later');
  await totals.waitFor();
  await picture('Later');
});

test.skipIf(!executablePath)('at a first visit too, a link with variables opens with them', async () => {
  await page.evaluate(() => localStorage.clear());
  const query = 'query Linked($id: ID!) { book(id: $id) { sourceId } }';
  const variables = JSON.stringify({ id: '6082808' });
  await page.goto(`${program.url}/graphql?${String(new URLSearchParams({ query, variables }))}`);
  expect(await (await execute('Linked')).json()).toMatchObject({ data: { book: { sourceId: '6082808' } } });
});

test.skipIf(!executablePath)('while typing, the least and most calls are shown with the costliest field', async () => {
  const price = page.locator('.calls-price');
  await price.filter({ hasText: /^Costs (?:about )?\d/ }).waitFor();
  await type('{ top250(first: 5) { nodes { title directors { name } } } }');
  await price.filter({ hasText: 'Costs about 6 calls, 1 to 6, most for top250.nodes.directors (0 to 5)' }).waitFor();
  await type('{ top250(first: 5) { nodes { title } } }');
  await price.filter({ hasText: /^Costs 1 call$/ }).waitFor();
  // The section of the price opens by the keyboard.
  const section = page.locator('#dock-price');
  expect(await section.isVisible()).toBe(false);
  await page.getByRole('button', { name: /^Price/ }).focus();
  await page.keyboard.press('Enter');
  const rows = async () =>
    (await section.locator('tbody tr').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  expect(await rows()).toEqual(['top250 1 GET /v2/movie/top250', 'nodes 0', 'title 0']);
  await type('{ top250(first: 100) { nodes { title casts { works(first: 20) { nodes { roles } } } } } }');
  await price.filter({ hasText: /^Costs about \d+ calls, 1 to \d+, over the limit of 250, most for / }).waitFor();
  expect(await section.locator('.price-over').innerText()).toMatch(
    /^Over the limit of 250: it is refused before it runs/,
  );
  await type('{ top250(first: 100) { nodes { title directors { works(first: 5) { nodes { roles } } } } } }');
  await price.filter({ hasText: /^Costs about 201 calls, 1 to 901, stops at 250, most for / }).waitFor();
  expect(await section.locator('.price-over').count()).toBe(0);
  expect(await section.locator('.price-fine').innerText()).toMatch(/at most 901; it stops at 250\.$/);
  await page
    .locator('.graphiql-query-editor .view-line .price-mark', { hasText: /1.call/ })
    .first()
    .waitFor();
  await picture('Price');
  // A click shows the list in the document.
  await section.getByRole('button', { name: /^first: 20 at top250: about 41, at most 181 calls$/ }).click();
  await page.keyboard.type('smaller: ');
  expect(await documentText()).toContain('{ smaller: top250(first: 100)');
  await type('{ top250(first: 5) { nodes { tit');
  await price.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
  // Nothing was run for it.
  expect(await page.locator('.calls-totals').innerText()).toMatch(/^Run an operation/);
});

test.skipIf(!executablePath)(
  'a blank tab has starters, everyday words and sentences find fields, ids are completed, and a document runs as all four',
  async () => {
    // A document that is found opens in a tab of its own, and a starter in a blank one.
    await page.getByRole('button', { name: 'Find' }).click();
    await page.keyboard.type('movie'); // its input has the focus
    await page.getByRole('button', { name: 'Try Query.subject' }).click();
    await page.locator('.graphiql-query-editor', { hasText: '1292052' }).waitFor();
    // A field of an object is tried with an object that the query has by an id.
    await page.getByLabel('Search the schema').fill('weekend');
    await page.getByRole('button', { name: 'Try City.events' }).click();
    await page.locator('.graphiql-query-editor', { hasText: 'beijing' }).waitFor();
    await page.getByLabel('Search the schema').fill('cheaper');
    await page.getByRole('button', { name: /^Price: what the open document costs/ }).click();
    expect(await page.locator('#dock-price').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByLabel('Search the schema').fill('films by one director with rating above 9');
    await page.locator('#dock-find', { hasText: 'nothing has “above”' }).waitFor();
    await page.getByRole('button', { name: 'Start with: Films by one director' }).click();
    await page.locator('.graphiql-query-editor', { hasText: 'no filter or order by rating' }).waitFor();
    await page.getByLabel('Search the schema').fill('诺兰');
    await page.getByRole('button', { name: 'searchSubjects: “诺兰”' }).waitFor();
    const starters = page.locator('.dock-starters');
    expect(await starters.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'New tab' }).click();
    await starters.waitFor();
    const tabs = await page.locator('.graphiql-tab').count();
    await picture('Starters');
    await page.getByRole('button', { name: 'A film and its people' }).click();
    await starters.waitFor({ state: 'hidden' });
    expect(await page.locator('.graphiql-tab').count()).toBe(tabs);

    // As all four: the film has reviews that the tier of bob does not get.
    await page.getByRole('button', { name: 'People', exact: true }).click();
    await page.getByRole('button', { name: 'Run as all four' }).click();
    const row = page.locator('#dock-people tr', { hasText: 'subject.reviews' });
    await row.waitFor();
    expect((await row.innerText()).split(/\s+/)).toEqual(['subject.reviews', 'fine', 'TIER_REQUIRED', 'fine', 'fine']);
    await picture('People');
    // Nobody is sent without the token of the person who is chosen.
    await type('{ user(id: "alice") { notes(first: 1) { nodes { title } } } }');
    await page.getByRole('button', { name: 'Run as all four' }).click();
    const notes = page.locator('#dock-people tr', { hasText: 'user.notes' });
    await notes.waitFor();
    expect((await notes.innerText()).split(/\s+/)).toEqual(['user.notes', 'fine', 'fine', 'fine', 'LOGIN_REQUIRED']);
    // What each may use, without a document: the tiers are found out.
    await page.getByRole('button', { name: 'What each may use' }).click();
    const answers = async (requirement: RegExp) => {
      const row = page.locator('#dock-people tr', { hasText: requirement });
      await row.waitFor();
      return (await row.locator('td').allInnerTexts()).slice(1);
    };
    expect(await answers(/with a login/)).toEqual(['yes', 'yes', 'yes', 'no']);
    expect(await answers(/with film tier basic or advance/)).toEqual(['yes', 'yes', 'no', 'yes']);
    await picture('People may use');
    await type('mutation Gone { deleteNote(input: { id: "1" }) { deletedId } }');
    await page.getByRole('button', { name: 'Run as all four' }).click();
    await page.locator('#dock-people', { hasText: 'Only a query is run as everybody' }).waitFor();
    expect(await row.count()).toBe(0);

    await type('query Seen { top250(first: 3) { nodes { id title } } }');
    await runTyped();
    await waitForResult('"top250"');
    await type('{ subject(id: ');
    await page.keyboard.type('"');
    const offered = await suggested('Subject:');
    expect(await offered.count()).toBe(3);
    await picture('Ids');
    // A word of everyday that is no field offers those that it means.
    await type('{');
    await page.keyboard.type('films');
    await suggested('top250');
    await picture('Everyday words');
    // Of another type there is the example of its description only.
    await type('{ city(id: ');
    await page.keyboard.type('"');
    await suggested('beijing');
    expect(await offered.count()).toBe(0);
    await type('{ viewer { canUse(coordinate: ');
    await page.keyboard.type('"');
    await suggested('Annotation.author');
  },
);

test.skipIf(!executablePath)('a long document or price leaves the page and the bar as they are', async () => {
  const heights = () =>
    page.evaluate(() => [document.documentElement.scrollHeight, document.querySelector('.calls-head')!.clientHeight]);
  const before = await heights();
  await choose('Film');
  await page.locator('.calls-price', { hasText: /^Costs (?:about )?3 calls/ }).waitFor();
  await page.getByRole('button', { name: /^Calls/ }).click(); // the editor gets the space
  expect([before[0], await heights()]).toEqual([900, before]);
  await type('{ top250(first: 100) { nodes { title casts { works(first: 20) { nodes { roles } } } } } }');
  await page.locator('.calls-price', { hasText: 'over the limit of 250, most for' }).waitFor();
  expect(await heights()).toEqual(before);
});

test.skipIf(!executablePath)('a record that the service does not have is named in the calls', async () => {
  await type('{ city(id: "Beijing") { events(first: 1) { totalCount } } }');
  await runTyped();
  await page.locator('.calls-totals', { hasText: '1 call in 1 wave · 1 not found · ' }).waitFor();
});

test.skipIf(!executablePath)('each tab has its own calls', async () => {
  const totals = page.locator('.calls-totals');
  await run('Book');
  await page.locator('.calls-list tbody tr').first().waitFor();
  const ofBook = await totals.innerText();
  await page.locator('.graphiql-tab').nth(0).click();
  await totals.filter({ hasText: 'Run an operation' }).waitFor();
  expect(await page.locator('.calls-list tbody tr').count()).toBe(0);
  await page.locator('.graphiql-tab').nth(1).click();
  await totals.filter({ hasText: ofBook }).waitFor();
});

test.skipIf(!executablePath)('the request is copied as a command, which a shell runs', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await type('# it\'s a quote\n{ book(id: "6082808") { title viewerCollection { status } } }');
  expect(await saysOnClick(page.getByRole('button', { name: 'Copy as cURL' }))).toBe('Copied');
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  expect(JSON.parse(stdout)).toEqual({ data: { book: { title: '百年孤独', viewerCollection: { status: 'READ' } } } });
});

test.skipIf(!executablePath)(
  'all tabs are in sight, Chinese punctuation has no boxes, the docs begin with the schema',
  async () => {
    for (const operation of ['Book', 'Film', 'Shelf']) await choose(operation);
    expect(await page.locator('.graphiql-tab').count()).toBe(4);
    for (const tab of await page.locator('.graphiql-tab').all()) {
      const { x, width } = (await tab.boundingBox())!;
      expect(x + width).toBeLessThan(1400);
      expect(
        await tab.evaluate(
          (each) =>
            document
              .elementFromPoint(each.getBoundingClientRect().x + 20, each.getBoundingClientRect().y + 10)
              ?.closest('.graphiql-tab') === each,
        ),
      ).toBe(true);
    }
    await type('# 《百年孤独》，（马尔克斯）：好！');
    await page.waitForTimeout(1_000); // boxes would be drawn after the text
    expect(await page.locator('[class*="unicode-highlight"]').count()).toBe(0);
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer', { hasText: 'Books, notes, films and city events' }).waitFor();
  },
);

test.skipIf(!executablePath)('the second visit opens the tab of the first, and loads a few kB', async () => {
  await choose('Celebrity');
  await storedTabs('Celebrity');
  const count = await page.locator('.graphiql-tab').count();
  const again = await page.context().newPage();
  const devtools = await page.context().newCDPSession(again);
  await devtools.send('Network.enable');
  const addresses = new Map<string, string>();
  let bytes = 0;
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => addresses.set(requestId, request.url));
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (addresses.get(requestId)?.startsWith('http')) bytes += encodedDataLength;
  });
  await again.goto(`${program.url}/graphql`);
  await again.locator('.graphiql-query-editor', { hasText: ' Celebrity' }).waitFor();
  await again.locator('.calls-price', { hasText: 'Costs' }).waitFor();
  expect(await again.locator('.graphiql-tab').count()).toBe(count);
  expect(bytes).toBeLessThan(10_000);
});

test.skipIf(!executablePath)(
  'the switch of the person holds for all tabs, new ones, the price and the command',
  async () => {
    const person = page.locator('.calls-person select');
    const authorization = async () => (await runTyped()).headers().authorization;
    await person.selectOption('bob');
    const price = page.locator('.calls-price', { hasText: 'Costs' });
    await price.waitFor();
    await type('query Mine { viewer { filmTier } }');
    expect(await authorization()).toBe('Bearer demo-bob');
    await page.getByRole('button', { name: 'New tab' }).click();
    await type('query Other { viewer { filmTier } }');
    expect(await authorization()).toBe('Bearer demo-bob');
    await person.selectOption('nobody');
    expect(await authorization()).toBeUndefined();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await person.selectOption('carol');
    expect(await saysOnClick(page.getByRole('button', { name: 'Copy as cURL' }))).toBe('Copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('Bearer demo-carol');
    await page.reload();
    expect(await person.inputValue()).toBe('carol');
  },
);

test.skipIf(!executablePath)(
  'there is a history, a link to the help of each error, and a main landmark with a title',
  async () => {
    await page.locator('.calls-person select').selectOption('nobody');
    await type('mutation Gone { deleteNote(input: { id: "1" }) { deletedId } }');
    await runTyped();
    await waitForResult('LOGIN_REQUIRED');
    await page.locator('.result-window .detected-link', { hasText: '/docs/errors#LOGIN_REQUIRED' }).waitFor();
    // What was run opens again in a tab, after a reload too. No token is kept.
    await page.reload();
    await editors();
    await page.getByRole('button', { name: 'History' }).click();
    const tabs = await page.locator('.graphiql-tab').count();
    await page.locator('#dock-history').getByRole('button', { name: /Gone/ }).click();
    await page.locator('.graphiql-tab').nth(tabs).waitFor();
    expect(await page.locator('.graphiql-tab').count()).toBe(tabs + 1);
    expect(await documentText()).toContain('mutation Gone { deleteNote');
    expect(await page.evaluate(() => localStorage.getItem('catalog-graphql:history'))).not.toContain('demo-');
    expect(await page.title()).toBe('GraphiQL · catalog-graphql');
    expect(await page.locator('main h1, h1').count()).toBe(1);
    expect(await page.getByRole('main').count()).toBe(1);
  },
);

test.skipIf(!executablePath)('a link with a query and variables opens a tab with both, which runs', async () => {
  const query = 'query Linked($id: ID!) { book(id: $id) { title } }';
  const open = async (id: string) => {
    const variables = JSON.stringify({ id });
    await page.goto(`${program.url}/graphql?${String(new URLSearchParams({ query, variables }))}`);
    await page.locator('.graphiql-editor', { hasText: `"${id}"` }).waitFor({ state: 'attached' }); // the headers cover it
    const response = await execute('Linked');
    expect(response.request().postDataJSON()).toMatchObject({ variables: { id } });
    await storedTabs(id);
    return { answer: await response.json(), tabs: await page.locator('.graphiql-tab').count() };
  };
  const first = await open('6082808');
  expect(first.answer.data).toEqual({ book: { title: '百年孤独' } });
  // The tabs of an earlier visit are kept: equal variables are their tab, others are a tab of their own.
  const second = await open('1003078');
  expect(second.answer.data.book.title).not.toBe('百年孤独');
  expect(second.tabs).toBe(first.tabs + 1);
  expect((await open('6082808')).tabs).toBe(second.tabs);
});

test.skipIf(!executablePath)('if the headers are not valid JSON, no calls of an earlier run are shown', async () => {
  await run('Book');
  await page.locator('.calls-list tbody tr').first().waitFor();
  await page.evaluate(() => {
    const { monaco } = globalThis as unknown as { monaco: { editor: { getModels: () => Model[] } } };
    const headers = monaco.editor.getModels().find(({ uri }) => uri.path.endsWith('request-headers.json'))!;
    headers.setValue('{ "x-a": oops }');
  });
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.locator('.calls-totals', { hasText: 'Nothing was sent: the headers are not valid JSON.' }).waitFor();
  expect(await page.locator('.calls-list tbody tr').count()).toBe(0);
});

test.skipIf(!executablePath)(
  'on a telephone docs and explorer are there, and no column of the calls is cut',
  async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await editors();
    await run('Book');
    await page.getByRole('button', { name: /^Calls/ }).click();
    await page.locator('.calls-list tbody tr').first().waitFor();
    for (const name of ['Time', 'Bytes']) {
      const { x, width } = (await page.getByRole('columnheader', { name }).boundingBox())!;
      expect(x + width).toBeLessThanOrEqual(390);
    }
    // In the table of a plan too.
    await run('Explain');
    await page.locator('.calls-totals', { hasText: 'Planned' }).waitFor();
    for (const cell of await page.locator('.calls-list tbody .calls-number').all()) {
      const { x, width } = (await cell.boundingBox())!;
      expect(x + width).toBeLessThanOrEqual(390);
    }
    for (const name of ['Documentation Explorer', 'GraphiQL Explorer']) {
      await page.getByRole('button', { name: `Show ${name}` }).click();
      await page.waitForTimeout(500); // the explorer focuses an input first
      const scrolled = await page
        .locator('.graphiql-plugin, .graphiql-plugin *')
        .evaluateAll((all) => all.filter(({ scrollTop }) => scrollTop > 0).length);
      expect([name, scrolled]).toEqual([name, 0]);
      const { x, width, height } = (await page.locator('.graphiql-plugin').boundingBox())!;
      expect([x, width > 350, height > 250]).toEqual([0, true, true]);
      await picture(`390 ${name}`);
      await page.getByRole('button', { name: `Hide ${name}` }).click();
    }
  },
);

test.skipIf(!executablePath)('axe-core finds nothing serious, in both themes', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.reload();
    await page.locator('.price-mark').first().waitFor();
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
      return (await axe.run()).violations.map(({ id, impact, nodes }) => [impact, id, String(nodes[0]?.target)]);
    });
    expect([colorScheme, found]).toEqual([colorScheme, []]);
  }
});

interface Violation {
  id: string;
  impact: string;
  nodes: { target: string[] }[];
}

test.skipIf(!executablePath)('on a telephone it can be used', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await editors();
  expect(await page.locator('.calls-list').isVisible()).toBe(false); // the editor has the place until it is opened
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await run('Book');
  await waitForResult('永恒的边缘');
  await page.getByRole('button', { name: /^Calls/ }).click();
  for (const part of ['.graphiql-query-editor', '.result-window', '.calls-list']) {
    const { width, height } = (await page.locator(part).boundingBox())!;
    expect([part, width > 280, height > 90]).toEqual([part, true, true]);
  }
  await picture('390');
});

test.skipIf(!executablePath)(
  'the panel of calls can be collapsed with the keyboard, and stays collapsed after a reload',
  async () => {
    await run('Book');
    await page.locator('.calls-list tbody tr').first().waitFor();
    const bar = page.getByRole('button', { name: /^Calls/ });
    const isShown = () => page.locator('.calls-list').isVisible();
    expect([await bar.getAttribute('aria-expanded'), await isShown()]).toEqual(['true', true]);
    const height = async () => (await page.locator('.graphiql-main').boundingBox())!.height;
    const before = await height();
    await bar.focus();
    await page.keyboard.press('Enter');
    expect([await bar.getAttribute('aria-expanded'), await isShown()]).toEqual(['false', false]);
    expect(await height()).toBeGreaterThan(before); // GraphiQL gets the space
    await page.reload();
    expect(await bar.getAttribute('aria-expanded')).toBe('false');
    await bar.focus();
    await page.keyboard.press('Space');
    expect(await bar.getAttribute('aria-expanded')).toBe('true');
  },
);

test.skipIf(!executablePath)('the panel of calls is legible in both themes', async () => {
  await run('Book');
  await page.locator('.calls-list tbody tr').first().waitFor();
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
        '.calls-list th',
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

test.skipIf(!executablePath)('a script of the page collects a book, reads the collection, and deletes it', async () => {
  const collections =
    '{ user(id: "alice") { bookCollections(first: 1) { nodes { comment book { sourceId title } } } } }';
  const collect = `mutation ($book: ID!) { collectBook(input: { bookId: $book, status: READ, comment: "从浏览器" }) {
    book { title viewerCollection { status comment } }
  } }`;
  const remove =
    'mutation ($book: ID!) { deleteCollection(input: { bookId: $book }) { book { viewerCollection { status } } } }';
  const book = '6082808';

  await send(remove, { book });
  const collected = await send(collect, { book });
  expect(collected.data.collectBook.book.viewerCollection).toEqual({ status: 'READ', comment: '从浏览器' });
  const [first] = (await send(collections)).data.user.bookCollections.nodes;
  expect(first).toEqual({
    comment: '从浏览器',
    book: { sourceId: book, title: collected.data.collectBook.book.title },
  });
  expect((await send(remove, { book })).data).toEqual({ deleteCollection: { book: { viewerCollection: null } } });
  expect((await send(collections)).data.user.bookCollections.nodes[0]?.book.sourceId).not.toBe(book);
});

/** Sends an operation from a script of the page, as a front end does. */
const send = (query: string, variables: object = {}) =>
  page.evaluate(async (body) => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
    const response = await fetch('/graphql', { method: 'POST', headers, body });
    return response.json();
  }, JSON.stringify({ query, variables }));

/** RGB values of a text and of its panel. */
const colours = (selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const read = (colour: string) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
      const panel = element.closest('.calls') ?? element;
      return { ink: read(getComputedStyle(element).color), ground: read(getComputedStyle(panel).backgroundColor) };
    });

/** Contrast ratio as defined by WCAG 2. */
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

/** Replaces the document of the open tab, and types a blank at its end. */
async function type(text: string): Promise<void> {
  await page.locator('.graphiql-query-editor .monaco-editor').first().click();
  await page.evaluate((value) => {
    const { monaco } = globalThis as unknown as { monaco: { editor: { getModels: () => Model[] } } };
    monaco.editor
      .getModels()
      .find(({ uri }) => uri.path.endsWith('operation.graphql'))!
      .setValue(value);
  }, text);
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(' ');
  await isRead(/(?:query|mutation) (\w+)/.exec(text)?.[1] ?? '<untitled>');
}

/** The editor offers suggestions as one types; on a busy machine it may miss that, and is asked for them by the keyboard. */
async function suggested(text: string) {
  const rows = page.locator('.suggest-widget .monaco-list-row', { hasText: text });
  const first = rows.first();
  await first.waitFor({ timeout: 20_000 }).catch(async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Space');
    await first.waitFor();
  });
  return rows;
}

const documentText = () =>
  page.evaluate(() => {
    const { monaco } = globalThis as unknown as { monaco: { editor: { getModels: () => Model[] } } };
    return monaco.editor
      .getModels()
      .find(({ uri }) => uri.path.endsWith('operation.graphql'))!
      .getValue();
  });

/** Runs what was typed, by the keyboard: suggestions of the editor may cover the button. Returns its request, when it has ended. */
async function runTyped(): Promise<Request> {
  const sent = page.waitForRequest(isRun);
  await page
    .locator('.graphiql-query-editor .monaco-editor')
    .first()
    .click({ position: { x: 60, y: 150 } });
  await page.keyboard.press('ControlOrMeta+Enter');
  const request = await sent;
  await page.getByRole('button', { name: 'Execute query' }).waitFor(); // it was the one that stops
  return request;
}

interface Model {
  uri: { path: string };
  setValue: (text: string) => void;
  getValue: () => string;
}

test.skipIf(!executablePath)(
  'a document of the largest size is kept, and its address can be loaded again',
  async () => {
    const long = `{ book(id: "6082808") { title } }\n${'# 很长 '.repeat(3_000)}`;
    await page.evaluate((text) => {
      const { monaco } = globalThis as unknown as {
        monaco: {
          editor: {
            getEditors: () => { getModel: () => { uri: { path: string }; setValue: (text: string) => void } }[];
          };
        };
      };
      const models = monaco.editor.getEditors().map((editor) => editor.getModel());
      models.find(({ uri }) => uri.path.endsWith('.graphql'))!.setValue(text);
    }, long);
    await storedTabs('很长');
    expect(page.url().length).toBeLessThan(4_100);
    const response = await page.reload();
    expect(response!.status()).toBe(200);
    await page.locator('.graphiql-query-editor', { hasText: '很长' }).waitFor();
    // A short one is in the address again.
    await choose('Film');
  },
);

test.skipIf(!executablePath)('GraphiQL works where the browser gives pages no storage', async () => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', {
      configurable: true,
      get() {
        throw new DOMException('denied', 'SecurityError');
      },
    });
  });
  await page.reload();
  await editors();
  const { data } = await run('Book');
  expect(data.book.title).toMatch(/\S/);
});

const menu = () => page.getByRole('combobox', { name: 'Examples' });

/** The editors have their texts: before that nothing is typed, opened or run. */
const editors = () => page.locator('.graphiql-query-editor .view-line').first().waitFor();

/** GraphiQL reads the name of the operation a little after its text, and the tab has it as its title: before that it would run another one. */
const isRead = (operation: string) => page.locator('.graphiql-tab-active', { hasText: operation }).waitFor();

/** GraphiQL stores its tabs a little after each change. */
const storedTabs = (text: string) =>
  page.waitForFunction((each) => localStorage.getItem('graphiql:tabState')?.includes(each), text);

/** Whether it is sent by a run: the panel plans what is typed, and compares people. */
const isRun = (request: Request) => request.method() === 'POST' && request.headers().accept !== 'application/json';

/** Chooses the example of an operation. */
async function choose(operation: string): Promise<void> {
  const name = operation.replace(/^Write/, '').replaceAll(/(?<=.)[A-Z]/g, '-$&');
  await menu().selectOption(name.toLowerCase());
  await isRead(operation);
}

/** Opens the example of an operation, clicks on run, and returns the response. */
async function run(operation: string) {
  await choose(operation);
  return await (await execute(operation)).json();
}

async function execute(operation: string): Promise<Response> {
  await editors();
  await isRead(operation);
  const sent = page.waitForRequest(isRun);
  await page.getByRole('button', { name: 'Execute query' }).click();
  const request = await sent;
  expect(request.postData()).toContain(` ${operation}`);
  expect(request.headers().authorization).toBe('Bearer demo-alice');
  return (await request.response())!;
}

/** Waits until the response pane contains this text. */
async function waitForResult(text: string): Promise<void> {
  await page.locator('.result-window', { hasText: text }).waitFor();
}

/** Takes a screenshot: SCREENSHOTS=/tmp/pages npm run test:browser. */
async function picture(name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
