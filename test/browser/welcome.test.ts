import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { executablePath, PATIENT } from './chromium.ts';

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

async function open(width: number, use: (page: Page) => Promise<void>): Promise<string[]> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  context.setDefaultTimeout(PATIENT);
  const page = await context.newPage();
  const requests: string[] = [];
  const failures: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(program.url)) requests.push(new URL(request.url()).pathname);
  });
  page.on('pageerror', (error) => failures.push(error.message));
  page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  await page.goto(program.url);
  for (const name of ['book', 'film', 'dashboard']) await page.locator(`#${name} dl`).waitFor();
  await use(page);
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    await page.evaluate(() => document.querySelectorAll('img').forEach((image) => (image.loading = 'eager')));
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(folder, `Welcome ${width}.png`), fullPage: true });
  }
  expect(failures).toEqual([]);
  await context.close();
  return requests;
}

test.skipIf(!executablePath)(
  'the page at / displays three pages of the demo with their pictures, each from one request',
  async () => {
    const requests = await open(1280, async (page) => {
      for (const [name, text, pictures] of [
        ['book', '永恒的边缘', 5],
        ['film', '盗梦空间', 14],
        ['dashboard', 'Top films', 9],
      ] as const) {
        const section = page.locator(`#${name}`);
        expect(await section.locator('.page').innerText()).toContain(text);
        const images = section.locator('.page img');
        expect(await images.count()).toBeGreaterThanOrEqual(pictures);
        for (const image of await images.all()) {
          await image.scrollIntoViewIfNeeded();
          await expect.poll(() => image.evaluate((each: HTMLImageElement) => each.naturalWidth)).toBeGreaterThan(0);
        }
        expect(await section.locator('pre').innerText()).toMatch(/^query \w+ \{/);
        expect(await section.locator('dd').first().innerText()).toBe('1');
      }
      const cost = () => page.locator('#book dl').innerText();
      expect(await cost()).toMatch(/Calls of the service\s+4\n/);
      expect(await cost()).toMatch(/4 requests, whole records\s+3\d\.\d kB/);
      await page.locator('#book button').click();
      await expect.poll(cost).toMatch(/Calls of the service\s+2, 2 from the cache/);
    });
    expect(requests.filter((path) => path !== '/favicon.ico').toSorted()).toEqual([
      '/',
      ...Array<string>(4).fill('/graphql'),
    ]);
  },
);

test.skipIf(!executablePath)('the page at / is not wider than the screen of a phone, and its links work', async () => {
  await open(390, async (page) => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const links = await page.locator('nav a').evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href));
    expect(links).toHaveLength(3);
    for (const link of links) expect((await fetch(link, { headers: { accept: 'text/html' } })).status).toBe(200);
  });
});
