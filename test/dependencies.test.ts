import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const { dependencies, overrides } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'dependencies' | 'overrides',
  Record<string, string>
>;
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, { version: string; engines?: { node?: string }; dev?: boolean }>;
};
const page = readFileSync('docs/architecture.md', 'utf8');

/** The packages in the first column of the table of overrides. */
const reasoned = [...page.matchAll(/^\| `([^`]+)` +\| \S/gm)].map(([, name]) => name!);

test('each override is of a package that is installed in that version, and has its reason in the page of the architecture', () => {
  expect(reasoned.filter((name) => name in overrides || name.includes('/')).sort()).toEqual(
    Object.keys(overrides).sort(),
  );
  for (const [name, version] of Object.entries(overrides)) {
    const found = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
    expect([name, found.map(([, each]) => each.version)]).toEqual([name, [version]]);
  }
});

test('no installed package needs a newer Node than the first that is supported', () => {
  const needs22 = Object.entries(packages).filter(([, { engines }]) => /^(?:>=|\^)\s*2[2-9]/.test(engines?.node ?? ''));
  expect(needs22.filter(([, { engines }]) => !/\b(?:18|20)\b/.test(engines!.node!)).map(([path]) => path)).toEqual([]);
});

/** The packages that these files and all that they import name. */
function packagesOf(entries: readonly string[]): Set<string> {
  const names = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !existsSync(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8').replaceAll(/^(?:import|export) type [^;]*;|\/\*[^]*?\*\/|\/\/.*$/gm, '');
    for (const [, target] of text.matchAll(/(?<!')(?:from|import|import\(|require\()\s*'([^']+)'/g))
      if (target!.startsWith('.')) visit(join(dirname(file), target!));
      else names.add(/^(?:@[^/]+\/)?[^/]+/.exec(target!)![0]);
  };
  for (const entry of entries) visit(entry);
  return names;
}

test('an embedding program installs what its part imports, what the bundle leaves out and types, and nothing else', () => {
  const [, outside = ''] = /const OUTSIDE = \[(.*)\]/.exec(readFileSync('build.mjs', 'utf8'))!;
  const needed = new Set([
    ...packagesOf(['src/facade.ts', 'src/extend.ts', 'src/price.ts']),
    ...outside.split(', ').map((name) => name.slice(1, -1)),
    '@graphql-typed-document-node/core', // the types of the published documents
  ]);
  expect(Object.keys(dependencies).filter((name) => !needed.has(name))).toEqual([]);
  for (const name of needed) if (!name.startsWith('node:')) expect(dependencies).toHaveProperty([name]);
});
