/** The documentation: every link, file and command in it exists. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { removedSettings } from '../src/config/removed-settings.ts';
import { compileProblems, tsExamplesOf } from './support/examples.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/oracle/README.md'],
  ...readdirSync('docs').flatMap((file) => (file.endsWith('.md') ? [`docs/${file}`] : [])),
];
const read = (page: string) => readFileSync(page, 'utf8');
/** The text without code blocks, which may look like headings or links. */
const proseOf = (page: string) => read(page).replaceAll(/^```[^]*?^```/gm, '');

/** The text without what `npm run codegen` prints. */
const handWrittenOf = (page: string) => {
  const text = read(page);
  if (/^<!-- Printed by "npm run codegen"/.test(text)) return '';
  return text
    .replaceAll(/<!-- ([\w-]+) -->\n[^]*?<!-- \/\1 -->/g, '')
    .replaceAll(/<!-- test\/[\w/-]+\.tsx? -->\n[^]*?<!-- end -->/g, '');
};

const codeOf = (page: string) => [...read(page).matchAll(/^```[^]*?^```|`[^`\n]+`/gm)].map(([code]) => code).join('\n');

test('the README has at most 12 kB', () => {
  expect(statSync('README.md').size).toBeLessThanOrEqual(12_000);
});

test('an install on Node 20 is told which versions to fix, because overrides of a package count only in its own folder', () => {
  const { overrides } = JSON.parse(read('package.json')) as { overrides: Record<string, string> };
  const needNewer = [...read('docs/architecture.md').matchAll(/^\| `([^`]+)` +\| .*needs Node 22/gm)].map(
    ([, name]) => name!,
  );
  expect(needNewer.length).toBeGreaterThan(0);
  const page = read('docs/operations.md');
  for (const name of needNewer) expect(page).toContain(`"${name}": "${overrides[name]}"`);
});

test('a reader of the installed package finds how the command is started, stopped and replaced', () => {
  expect(proseOf('README.md')).toContain('the command is `npx catalog-graphql`');
  const page = read('docs/operations.md');
  expect(page).toContain(
    '`npx` does not: where a program starts and stops it, install it with `--global` and start `catalog-graphql`',
  );
  expect(page).toContain('or all at once where [CHANGELOG.md](../CHANGELOG.md) says so');
});

test('every command of the program is written as a reader of the installed package can type it', () => {
  const bare = pages.filter((page) => /(?<!npx )\bcatalog-graphql (?=[a-z])/.test(codeOf(page)));
  expect(bare).toEqual([]);
});

test.each(['README.md', 'docs/embedding.md'])('%s names the packages that its server needs before its code', (page) => {
  const [text = '', code = ''] = read(page).split('```ts\n');
  const named = [...code.matchAll(/ from '((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => name !== 'catalog-graphql' && !text.includes(`\`${name}\``))).toEqual([]);
});

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const WORDS = 19_400;
const WORDS_OF_A_PAGE = 1_500;

test('README and docs have at most 19,400 words by hand, and each page at most 1,500', () => {
  const words = [...pages, 'CHANGELOG.md'].map((page) => [page, handWrittenOf(page).split(/\s+/).length] as const);
  expect(words.length).toBeGreaterThan(28);
  expect(words.filter(([, count]) => count > WORDS_OF_A_PAGE)).toEqual([]);
  const shown = words.filter(([page]) => /^(?:README\.md|docs\/)/.test(page));
  expect(shown.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(WORDS);
});

/** What a newcomer reads until it works: the head of each page and these sections, without code. */
const doors: Record<string, [words: number, pages: Record<string, string[]>]> = {
  'a web app with a list, a form and a conflict': [
    700,
    {
      'docs/front-ends.md': ['an-empty-app', 'reads-and-writes', 'components'],
      'docs/writes.md': ['partial-updates-a-patch-keeps-the-rest', 'conflicts-two-devices-change-one-record'],
    },
  ],
  'a mobile app with a queue and a conflict': [
    700,
    {
      'docs/mobile.md': [
        'generate-the-code',
        'the-first-screen',
        'delta-sync-a-shelf-on-the-phone',
        'a-queue-of-changes',
      ],
      'docs/offline.md': ['a-queue'],
    },
  ],
  'two replicas behind a proxy': [
    900,
    {
      'docs/operations.md': [
        'the-first-ten-minutes',
        'checklist-for-production',
        'docker-and-kubernetes',
        'several-instances',
        'behind-a-proxy',
      ],
    },
  ],
  'a field and a service of one\u2019s own in a server': [
    900,
    { 'docs/embedding.md': ['options', 'handler', 'fastify'], 'docs/extend.md': ['fields', 'services'] },
  ],
};

const proseOfDoor = (pages: Record<string, string[]>) =>
  Object.entries({ 'README.md': ['start'], ...pages })
    .flatMap(([page, sections]) => {
      const [head = '', ...texts] = proseOf(page).split(/^(?=## )/m);
      const byAnchor = new Map(texts.map((text) => [anchorsIn(text)[0]!, text]));
      for (const section of sections) expect([page, ...byAnchor.keys()]).toContain(section);
      return [head, ...sections.map((section) => byAnchor.get(section)!)];
    })
    .join('\n')
    .replaceAll(/<!--[^]*?-->|!\[[^\]]*\]|\]\([^)]*\)/g, ' ');

test.each(Object.entries(doors))('%s takes few words to read', (_, [most, pages]) => {
  const shown = proseOfDoor(pages);
  expect(wordsIn(shown)).toBeGreaterThan(400);
  expect(wordsIn(shown)).toBeLessThan(most);
});

test('the path of a mobile app has what its readers looked for elsewhere', () => {
  const [, pages] = doors['a mobile app with a queue and a conflict']!;
  const shown = proseOfDoor(pages);
  const codes = ['CONFLICT', 'COLLECTION_EXISTS', 'COLLECTION_NOT_FOUND', 'UPSTREAM_RESULT_UNKNOWN', 'BAD_USER_INPUT'];
  const others = ['extensions.code', 'extensions.current', '294', 'revision', 'forgotten after a day', 'comes again'];
  expect([...codes, ...others].filter((each) => !shown.includes(each))).toEqual([]);
});

test('the README begins with what an app gains, and each gain leads to its page', () => {
  const [head] = proseOf('README.md').split(/^## /m);
  const gains = [...head!.matchAll(/^- \*\*.*$/gm)].map(([gain]) => linksIn('README.md', gain)[0]?.path);
  expect(gains).toEqual(['README.md', 'docs/caching.md', 'docs/writes.md', 'docs/offline.md', 'docs/mobile.md']);
});

/** Sentences of earlier pages that readers had to read twice. */
const readTwice =
  /of writes at the same moment|that cannot be read, has that alone|What it hangs on|What it says is the caller|which shows it too if|one may wonder about|if it is public or private|say the cache key/i;

test('no sentence for users has more than 40 words, and none that had to be read twice is back', () => {
  const texts = pages
    .filter((page) => /^(?:README|docs\/)/.test(page) && !/interface-choices/.test(page))
    .map(
      (page) => [page, handWrittenOf(page).replaceAll(/^```[^]*?^```|!\[[^\]]*\]|\]\([^)]*\)|^\|.*$/gm, '')] as const,
    );
  const long = texts.flatMap(([page, text]) =>
    text
      .split(/\n\s*\n|\n(?=[-#]|\d+\. )|(?<=[.:;?!][)"*]*)\s+/)
      .filter((sentence) => wordsIn(sentence) > 40)
      .map((sentence) => `${page}: ${sentence}`),
  );
  expect(long).toEqual([]);
  expect(texts.filter(([, text]) => readTwice.test(text)).map(([page]) => page)).toEqual([]);
});

test('code that a user copies has at most 80 characters a line', () => {
  const users = pages.filter((page) => page.startsWith('docs/') && !/tasks|architecture/.test(page));
  const long = [...users, 'README.md'].flatMap((page) =>
    [...read(page).matchAll(/^```(?:tsx?|html|yaml|nginx|ini)\n([^]*?)^```/gm)]
      .flatMap(([, code]) => code!.split('\n'))
      .filter((line) => line.length > 80)
      .map((line) => `${page}: ${line}`),
  );
  expect(long).toEqual([]);
});

test('every page of docs is linked from the README, directly or not', () => {
  const reached = new Set<string>();
  const follow = (page: string) => {
    if (reached.has(page)) return;
    reached.add(page);
    for (const { path } of linksOf(page)) if (path.endsWith('.md') && existsSync(path)) follow(path);
  };
  follow('README.md');
  expect(pages.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
});

describe.each(pages)('%s', (page) => {
  test('has only links to existing files and headings', () => {
    const broken = linksOf(page).filter(
      ({ path, anchor }) => !existsSync(path) || (anchor !== undefined && !anchorsOf(path).includes(anchor)),
    );
    expect(broken).toEqual([]);
  });

  test('names only files and folders that exist', () => {
    const named = [...proseOf(page).matchAll(/`([\w.-]+(?:\/[\w.-]+)+\/?)`/g)].map(([, path]) => path!);
    const inRepository = named.filter((path) => existsSync(path.split('/')[0]!) || /\.(ts|mjs)$/.test(path));
    const from = [dirname(page), '.', 'src', 'src/server'];
    const generated = (path: string) => path.startsWith('dist/');
    expect(
      inRepository.filter((path) => !generated(path) && !from.some((folder) => existsSync(join(folder, path)))),
    ).toEqual([]);
  });

  test('names no setting that an earlier release had', () => {
    const named = new Set(codeOf(page).match(/\b[A-Z][A-Z_]+\b/g));
    expect(removedSettings.filter(({ env }) => named.has(env)).map(({ env }) => env)).toEqual([]);
  });

  test('names only npm scripts and programs that exist', () => {
    const code = codeOf(page);
    const scripts = [...code.matchAll(/\bnpm (?:run )?(?:-\w+ )*([\w:-]+)/g)].map(([, name]) => name!);
    expect(
      scripts.filter(
        (name) =>
          !(name in manifest.scripts) &&
          !['audit', 'ci', 'create', 'install', 'install-scripts', 'pack', 'sbom'].includes(name),
      ),
    ).toEqual([]);
    const programs = [...code.matchAll(/\bnode ([\w./-]+\.m?js)/g)].map(([, path]) => path!);
    expect(programs.filter((path) => !existsSync(path))).toEqual([]);
  });
});

test('the names in the list of changes of docs/architecture.md occur in the files that it links to', () => {
  const page = 'docs/architecture.md';
  const [, section = ''] = /^## Where do I change[^]*?\n([^]*?)\n## /m.exec(read(page))!;
  const rows = section.split('\n').filter((row) => row.startsWith('- '));
  expect(rows.length).toBeGreaterThan(12);
  const lost = rows.flatMap((row) => {
    const files = linksIn(page, row).map(({ path }) => path);
    const text = files.map((file) => (statSync(file).isFile() ? read(file) : '')).join('\n');
    const names = [...row.replaceAll(/\[[^\]]*\]/g, '').matchAll(/`([a-z]\w+)`/g)].map(([, name]) => name!);
    return names.filter((name) => name !== 'test' && !new RegExp(`\\b${name}\\b`).test(text));
  });
  expect(lost).toEqual([]);
});

interface Link {
  path: string;
  anchor: string | undefined;
}

const linksOf = (page: string): Link[] => linksIn(page, proseOf(page));

/** Links to files, relative to the root of the repository. */
function linksIn(page: string, text: string): Link[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { path: path === '' ? page : normalize(join(dirname(page), path)), anchor };
    });
}

/** The anchors that GitHub generates for headings. */
function anchorsOf(page: string): string[] {
  return page.endsWith('.md') ? anchorsIn(proseOf(page)) : [];
}

function anchorsIn(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

test('the embedding examples compile, also with exactOptionalPropertyTypes', () => {
  // The second example of docs/embedding.md needs Fastify: test/clients compiles it.
  const examples = ['README.md', 'docs/embedding.md', 'docs/extend.md'].map((page) => tsExamplesOf(page)[0]!);
  expect(compileProblems('test', examples)).toEqual([]);
});
