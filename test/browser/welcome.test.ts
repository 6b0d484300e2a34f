import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { executablePath, PATIENT, saysOnClick } from './chromium.ts';

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

async function open(width: number, use: (page: Page) => Promise<void>, colorScheme: 'light' | 'dark' = 'light') {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
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
  for (const name of ['book', 'film', 'dashboard']) await page.locator(`#${name} dl`).waitFor({ state: 'attached' });
  await use(page);
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    await page.evaluate(() => document.querySelectorAll('img').forEach((image) => (image.loading = 'eager')));
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(folder, `Welcome ${width} ${colorScheme}.png`), fullPage: true });
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
        await section.locator('summary', { hasText: 'The request' }).click();
        expect(await section.locator('pre').innerText()).toMatch(/^query \w+ \{/);
        expect(await section.locator('dd').first().innerText()).toBe('1');
      }
      expect(await cost(page)).toMatch(/Calls to the service\s+4\n/);
      expect(await cost(page)).toMatch(/4 requests for whole records\s+3\d\.\d kB/);
    });
    expect(requests.filter((path) => path !== '/favicon.ico').toSorted()).toEqual([
      '/',
      ...Array<string>(3).fill('/graphql'),
    ]);
  },
);

const cost = (page: Page) => page.locator('#book dl').innerText();

test.skipIf(!executablePath)('"Send again" keeps the open list and the keyboard focus', async () => {
  await open(1280, async (page) => {
    const list = page.locator('#book .made');
    await list.locator('summary').click();
    const title = await page.locator('#book h3').first().elementHandle();
    await page.locator('#book button').focus();
    for (let times = 0; times < 2; times++) {
      await page.keyboard.press('Enter');
      await expect.poll(() => cost(page)).toMatch(/Calls to the service\s+2, 2 from the cache/);
      expect(await list.getAttribute('open')).not.toBeNull();
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Send again');
      expect(await list.innerText()).toContain('cached');
      // The page beside it is not drawn anew for equal data.
      expect(await title.evaluate((element) => element.isConnected)).toBe(true);
    }
  });
});

test.skipIf(!executablePath)(
  'the page shows the same for bob, carol and nobody, with what each is refused',
  async () => {
    await open(1280, async (page) => {
      const status = (name: string) => page.locator(`#${name} [role=status]`);
      const problems = (name: string) => page.locator(`#${name} .problems`);
      expect(await page.getByRole('radio', { name: 'alice' }).isChecked()).toBe(true);
      expect(await page.locator('#book').innerText()).toContain('On this shelf');
      expect(await page.locator('.problems li').count()).toBe(0);

      await page.getByRole('radio', { name: 'bob' }).check();
      await status('film').filter({ hasText: 'As bob' }).waitFor();
      // Basic tier: fewer fields of films, but the rest of the page is there.
      expect(await problems('film').innerText()).toContain('TIER_REQUIRED');
      expect(await page.locator('#film h3').first().innerText()).toBe('盗梦空间');

      await page.getByRole('radio', { name: 'carol' }).check();
      await status('dashboard').filter({ hasText: 'As carol' }).waitFor();
      expect(await problems('dashboard').innerText()).toContain('TIER_REQUIRED');

      await page.getByRole('radio', { name: 'nobody' }).check();
      for (const name of ['book', 'film', 'dashboard']) await status(name).filter({ hasText: 'As nobody' }).waitFor();
      expect(await problems('dashboard').innerText()).toContain('LOGIN_REQUIRED');
      expect(await page.locator('#book').innerText()).not.toContain('On this shelf');
      for (const link of await page.locator('.problems a').all())
        expect(await link.getAttribute('href')).toMatch(/^\/docs\/errors#[A-Z_]+$/);
      // The choice holds for GraphiQL and the next visit too.
      await page.reload();
      expect(await page.getByRole('radio', { name: 'nobody' }).isChecked()).toBe(true);
    });
  },
);

test.skipIf(!executablePath)(
  'texts of the data have the language zh, original titles and the frame have not',
  async () => {
    await open(1280, async (page) => {
      const bare = await page.evaluate(() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts: string[] = [];
        while (walker.nextNode()) {
          const { parentElement, textContent } = walker.currentNode;
          const isText = parentElement && !['SCRIPT', 'STYLE', 'PRE'].includes(parentElement.tagName);
          if (isText && /\p{Script=Han}/u.test(textContent ?? '') && !parentElement.closest('[lang=zh]'))
            texts.push(textContent!);
        }
        return texts;
      });
      // An original title may be Chinese, and paths of calls are no texts to be read.
      expect(bare.filter((text) => !/^(?:GET|POST) /.test(text) && text.length > 12)).toEqual([]);
      expect(await page.locator('#book').innerText()).toContain('Edge of Eternity');
      expect(await page.locator('main > p').innerText()).toContain('The data of the demo are Chinese');
    });
  },
);

test.skipIf(!executablePath)(
  'the pages at / and /docs have no violation that axe-core finds, in both themes',
  async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const violations = async (page: Page) => {
      // By the debugger: the policy of the pages forbids other scripts.
      await page.evaluate(axe);
      return page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: { id: string }[] }> } };
        return (await axe.run()).violations.map(({ id }) => id);
      });
    };
    for (const scheme of ['light', 'dark'] as const)
      for (const width of [1400, 390])
        await open(
          width,
          async (page) => {
            for (const each of await page.locator('#book details').all())
              if ((await each.getAttribute('open')) === null) await each.locator('> summary').click();
            await page.getByRole('radio', { name: 'nobody' }).check();
            await page.locator('.problems li').first().waitFor();
            expect(await violations(page)).toEqual([]);
            await page.getByRole('radio', { name: 'alice' }).check();
            const other = await page.context().newPage();
            for (const path of ['/docs', '/docs/readme', '/docs/settings', '/docs/errors', '/docs?q=cache']) {
              await other.goto(program.url + path);
              expect([path, await violations(other)]).toEqual([path, []]);
              expect(await other.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
            }
          },
          scheme,
        );
  },
);

test.skipIf(!executablePath)(
  'the page at / begins with its result, and on a phone with the demo: what it cost is folded',
  async () => {
    await open(390, async (page) => {
      const result = await page.locator('h1').innerText();
      expect(result).toMatch(/^4 requests and 3\d\.\d kB become 1 request and [1-2]\.\d kB$/);
      expect((await page.locator('#book .top').boundingBox())!.y).toBeLessThan(844 - 200);
      const cost = page.locator('#book .price');
      expect(await cost.locator('dl').isVisible()).toBe(false);
      await cost.locator('> summary').click();
      expect(await cost.locator('dl').innerText()).toMatch(/Requests of this page\s+1\n/);
      expect(await cost.locator('pre').isVisible()).toBe(false);
    });
  },
);

test.skipIf(!executablePath)('the page at / is not wider than the screen of a phone, and its links work', async () => {
  await open(390, async (page) => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const links = await page.locator('nav a').evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href));
    expect(links).toHaveLength(4);
    for (const link of links) expect((await fetch(link, { headers: { accept: 'text/html' } })).status).toBe(200);
  });
});

test.skipIf(!executablePath)(
  'a page of the docs begins with its text, and its code is whole and copied with a button',
  async () => {
    for (const width of [1280, 390])
      await open(width, async (page) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.goto(`${program.url}/docs/front-ends`);
        expect((await page.locator('h1').boundingBox())!.y).toBeLessThan(200);
        const blocks = page.locator('pre');
        expect(await blocks.count()).toBeGreaterThan(3);
        const cut = await blocks.evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
        expect(cut).toBe(0);
        expect(await saysOnClick(blocks.first().getByRole('button', { name: 'Copy' }))).toBe('Copied');
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        expect(copied.trim()).toBe((await blocks.first().locator('code').innerText()).trim());
      });
  },
);

test.skipIf(!executablePath)(
  'names of metrics break on a phone, and the codes of errors are far enough apart to tap',
  async () => {
    await open(390, async (page) => {
      await page.goto(`${program.url}/docs/errors`);
      const wide = await page
        .locator('main code')
        .evaluateAll((all) =>
          all.filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.textContent),
        );
      expect(wide).toEqual([]);
      const heights = await page
        .locator('.codes a')
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(24);
    });
  },
);
