/** The directory of this package, and its version. This file is one level below the directory, in src and in dist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageDir = fileURLToPath(new URL('..', import.meta.url));

export const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as { version: string };

/** The User-Agent of upstream calls. */
export const USER_AGENT = `catalog-graphql/${version}`;
