// Lists the changes of schema.graphql since a commit: node scripts/schema-changes.mjs [revision]
// Without a revision: since the last commit if the file differs from it, otherwise since the one before. A breaking change is accepted
// only if CHANGELOG.md names it under "Breaking" of "Unreleased".
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

const now = readFileSync('schema.graphql', 'utf8');
const [before, since] = earlier(process.argv[2]);

if (before === undefined) console.log(`No schema.graphql in ${since} (or no history here): nothing to compare with.`);
else {
  const changes = await diff(buildSchema(before), buildSchema(now));
  const of = (level) => changes.filter(({ criticality }) => criticality.level === level);
  const [breaking, dangerous] = [of(CriticalityLevel.Breaking), of(CriticalityLevel.Dangerous)];
  const named = namedAsBreaking();
  const unnamed = breaking.filter(({ path }) => !named.has(path ?? 'schema'));

  console.log(`Changes of schema.graphql since ${since}: ${changes.length}, of them breaking ${breaking.length}.`);
  for (const change of breaking) print('BREAKING', change);
  for (const change of dangerous) print('may break', change);
  for (const change of of(CriticalityLevel.NonBreaking)) print('safe', change);
  if (unnamed.length > 0) {
    const paths = unnamed.map(({ path }) => `\`${path ?? 'schema'}\``).join(', ');
    console.error(`\nClients will break, and CHANGELOG.md does not say so. Name under Unreleased, Breaking: ${paths}`);
    process.exitCode = 1;
  }
}

function print(word, { message, path }) {
  console.log(`  ${word.padEnd(9)}  ${path ? `${path}: ` : ''}${message}`);
}

/** The old schema, and a name for its commit; undefined if there is none. */
function earlier(revision) {
  if (revision) return [at(revision), revision];
  const last = at('HEAD');
  if (last === undefined) return [undefined, 'the last commit'];
  if (last !== now) return [last, 'the last commit'];
  return [at('HEAD~1'), 'the commit before the last'];
}

function at(revision) {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 50_000_000 };
    return execFileSync('git', ['show', `${revision}:./schema.graphql`], options);
  } catch {
    return undefined;
  }
}

/** The coordinates in backticks under this heading. */
function namedAsBreaking() {
  const text = existsSync('CHANGELOG.md') ? readFileSync('CHANGELOG.md', 'utf8') : '';
  const unreleased = /^## \[?Unreleased\]?[^\n]*\n((?:(?!^## )[^])*)/im.exec(text)?.[1] ?? '';
  const section = /^### Breaking[^\n]*\n((?:(?!^### )[^])*)/im.exec(unreleased)?.[1] ?? '';
  return new Set([...section.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name));
}
