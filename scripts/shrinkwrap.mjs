// Puts the versions that were tested into the package: where it is installed, the overrides of package.json do not count, and the
// newest of some packages ask for a newer Node. Run by `npm pack` before it packs, and with --remove after it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const place = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));

if (process.argv.includes('--remove')) rmSync(place('npm-shrinkwrap.json'), { force: true });
else {
  const lock = JSON.parse(readFileSync(place('package-lock.json'), 'utf8'));
  lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev));
  delete lock.packages[''].devDependencies;
  writeFileSync(place('npm-shrinkwrap.json'), `${JSON.stringify(lock, null, 2)}\n`);
}
