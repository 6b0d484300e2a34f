import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));

/** How long anything of a browser may take where the machine is slow. */
export const PATIENT = 110_000;
