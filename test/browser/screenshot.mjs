// Takes the screenshot of GraphiQL for the README, docs/graphiql.png: node test/browser/screenshot.mjs [URL of a running facade]
// It needs Chromium (or CHROMIUM, a path to one), a Chinese font, and the demo data, not in the cache yet. To make the file small:
// pngquant --force --strip --speed 1 --output docs/graphiql.png docs/graphiql.png
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const address = process.argv[2] ?? 'http://localhost:4000';
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));
if (!executablePath) throw new Error('No Chromium found: set CHROMIUM to its path.');

const query = `query Page {
  book(id: "6082808") {
    title
    rating { average ratersCount }
    series {
      books(first: 3) { nodes { title } }
    }
    annotations(first: 2) {
      nodes { page author { name } }
    }
  }
  top250(first: 3) {
    nodes { title directors { name } }
  }
}
`;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 875 }, colorScheme: 'light' });
  page.setDefaultTimeout(60_000);
  await page.goto(`${address}/graphql?query=${encodeURIComponent(query)}`);
  await page.locator('.graphiql-query-editor', { hasText: 'top250' }).waitFor();
  await page.locator('.graphiql-toggle-editor-tools').click(); // the document has the place of variables and headers
  await page.locator('.price-mark').first().waitFor();
  await page.locator('.graphiql-execute-button').click();
  await page.locator('.calls-list tbody tr').nth(3).waitFor();
  await page.locator('.result-window', { hasText: 'average' }).waitFor();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1_000); // the editor highlights the response
  await page.screenshot({ path: 'docs/graphiql.png' });
} finally {
  await browser.close();
}
