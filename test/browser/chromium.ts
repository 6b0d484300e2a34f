import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));

/** Timeout for steps in the browser on a slow machine. */
export const PATIENT = 110_000;
