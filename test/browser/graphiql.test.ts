import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import type { Program } from '../support/program.ts';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));

let program: Program;
let browser: Browser;
beforeAll(async () => {
  if (!executablePath) return;
  program = await startProgram({ PORT: '0', ORIGIN_PORT: '0' });
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
});

test.skipIf(!executablePath)('GraphiQL opens with our pages, asks no other host, and runs the first one', async () => {
  const page = await browser.newPage();
  const elsewhere: string[] = [];
  const broken: string[] = [];
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
  const tabs = await page.locator('.graphiql-tab').allInnerTexts();
  expect(tabs.slice(0, 3).map((tab) => tab.trim())).toEqual(['Book', 'Film', 'Celebrity']);
  expect(tabs).toHaveLength(10);
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().postData()?.includes('query Book') ?? false),
    page.click('.graphiql-execute-button'),
  ]);
  expect(answer.request().headers().authorization).toBe('Bearer demo-alice');
  const { data, errors } = await answer.json();
  expect(errors).toBeUndefined();
  expect(data.book.title).toBe('百年孤独');
  expect(elsewhere).toEqual([]);
  expect(broken).toEqual([]);
});
