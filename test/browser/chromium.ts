import { existsSync } from 'node:fs';
import type { Locator } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));

/** Timeout for steps in the browser on a slow machine. */
export const PATIENT = 110_000;

/** Clicks a button, and returns what it says next. It may say so for a moment only, in which a slow machine does not look at it. */
export async function saysOnClick(button: Locator): Promise<string | null> {
  const says = button.evaluate(
    (each) =>
      new Promise<string | null>((resolve) => {
        new MutationObserver(() => resolve(each.textContent)).observe(each, { childList: true });
      }),
  );
  await button.click();
  return says;
}
