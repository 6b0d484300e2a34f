/** Installs the packages of folders: node scripts/install.mjs <folder>... A folder whose lock file is unchanged is left as it is. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

for (const folder of process.argv.slice(2)) {
  const lock = join(folder, 'package-lock.json');
  const installed = join(folder, 'node_modules/.installed-lock.json'); // npm ci removes it with the packages
  if (textOf(installed) === textOf(lock)) continue;
  execFileSync('npm', ['ci', '--prefix', folder], { stdio: 'inherit' });
  copyFileSync(lock, installed);
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // never equal to that of the lock file, which exists
  }
}
