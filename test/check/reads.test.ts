/** `catalog-graphql check --reads`, with what a program read of the facade's responses. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { beforeEach, expect, test } from 'vitest';
import { clearReads, readsReport, trackReads } from '../../client/src/reads.ts';
import { runCheck } from '../../src/check/command.ts';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { journey } from '../support/journey.ts';
import { runProgram } from '../support/program.ts';
import { temporaryDirectory } from '../support/service.ts';

const { facade } = await journey();
const directory = temporaryDirectory();
beforeEach(clearReads);

let made = 0;
function file(content: unknown, extension: string): string {
  const path = join(directory, `${made++}.${extension}`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** What the facade answers, with its calls. */
async function run<T>(query: string, variables: object = {}): Promise<{ data: T; extensions: object }> {
  const headers = {
    'content-type': 'application/json',
    authorization: 'Bearer demo-alice',
    'x-explain': 'trace',
  };
  const response = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as { data: T; extensions: object };
}

interface Reads {
  leaves: number;
  read: number;
  unknown: number;
  paths: string[];
  withCalls: string[];
  callBytes: number;
  unreadCallBytes: number;
  callsWithout: { likely: number; most: number } | null;
}
interface Checked {
  operations: { name: string; reads?: Reads | null; findings: { code: string; severity: string; message: string }[] }[];
}

async function check(
  document: string,
  options: { failOn?: 'unread-calls' | 'unread-fields' } = {},
  more: string[] = [],
) {
  const reads = [file(readsReport(), 'json'), ...more];
  const all = { format: 'json', reads, ...options } as const;
  const { output, exitCode } = await runCheck([file(document, 'graphql')], all, schema, readConfig({}));
  const [operation] = (JSON.parse(output) as Checked).operations;
  return { exitCode, ...operation! };
}

const film = `query Film($id: ID!, $photos: Int = 30) {
  subject(id: $id) { id title summary poster { small medium } ...Extras }
}
fragment Extras on Subject { photos(first: $photos) { nodes { id imageUrl } } genres }`;
interface Film {
  subject: {
    title: string;
    summary: string;
    poster: { small: string; medium: string } | null;
    photos: { nodes: { imageUrl: string }[] };
    genres: string[];
  };
}

test('a response key may be a name that every object has', () => {
  const data = trackReads<object>({ constructor: 'a', toString: 'b' }, 'query constructor { constructor: title }');
  expect(data.constructor).toBe('a');
  const { fields } = readsReport().documents.constructor as unknown as { fields: object };
  expect(fields).toEqual({
    constructor: { received: 1, read: 1, bytes: 18 },
    toString: { received: 1, read: 0, bytes: 15 },
  });
  expect(Object).not.toHaveProperty('received');
});

test('fields that nothing reads are told, those that need a call with their calls and bytes', async () => {
  const { data, extensions } = await run<Film>(film, { id: '1295644' });
  const { subject } = trackReads(data, parse(film), extensions);
  expect(subject.title).toBe(data.subject.title);
  expect(subject.poster?.small).toBe(data.subject.poster?.small);

  const { reads, findings, exitCode } = await check(film);
  expect(reads).toMatchObject({ leaves: 6, read: 2, unknown: 0, withCalls: ['subject.photos'] });
  expect(reads!.paths).toEqual(['subject.summary', 'subject.poster.medium', 'subject.photos', 'subject.genres']);
  expect(reads!.callsWithout).toEqual({ likely: 1, most: 1 });
  expect(reads!.unreadCallBytes).toBeGreaterThan(0);
  expect(reads!.unreadCallBytes).toBeLessThan(reads!.callBytes);
  expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
    ['UNREAD_CALLS', 'warning'],
    ['UNREAD_FIELDS', 'warning'],
  ]);
  expect(findings[0]!.message).toMatch(
    /^Nothing reads subject\.photos\. Without that, at most 1 call instead of 2, and \d+ % fewer bytes from the service\.$/,
  );
  expect(exitCode).toBe(0);
});

test('--fail-on makes an error of unread fields that need a call, or of all', async () => {
  const { data } = await run<Film>(film, { id: '1295644' });
  const { subject } = trackReads(data, film);
  expect(subject.title).toBeTruthy();
  expect((await check(film, { failOn: 'unread-calls' })).exitCode).toBe(1);
  for (const { imageUrl } of subject.photos.nodes) expect(imageUrl).toBeTruthy();
  expect((await check(film, { failOn: 'unread-calls' })).exitCode).toBe(0);
  expect((await check(film, { failOn: 'unread-fields' })).exitCode).toBe(1);
});

test('a component reads by its fragment, a page by its operation, and files of several programs are added', async () => {
  const { data } = await run<Film>(film, { id: '1295644' });
  expect(trackReads(data, parse(film)).subject.title).toBeTruthy();
  const one = file(readsReport(), 'json');
  clearReads();
  const extras = parse('fragment Extras on Subject { genres }');
  expect(trackReads(data.subject, extras).genres).toEqual(data.subject.genres);
  const { reads } = await check(film, {}, [one]);
  expect(reads!.paths).not.toContain('subject.genres');
  expect(reads).toMatchObject({ read: 2 });
});

test('what no response had is not told as unread, and an empty list that is read is no hint either', async () => {
  const query = `query Gone { subject(id: "9999999") { id title } searchBooks(query: "no such book at all") { nodes { title } } }`;
  const { data } = await run<{ subject: null; searchBooks: { nodes: unknown[] } }>(query);
  const tracked = trackReads(data, query);
  expect([tracked.subject, tracked.searchBooks.nodes.length]).toEqual([null, 0]);
  expect((await check(query)).reads).toMatchObject({ leaves: 2, read: 0, unknown: 2, paths: [] });
});

test('an operation that was not run is not judged', async () => {
  const { reads, findings } = await check('query Unused { viewer { user { id name } } }');
  expect([reads, findings]).toEqual([null, []]);
});

test('a tracked result is made once, has the same values, and reading all of it counts all', async () => {
  const { data } = await run<Film>(film, { id: '1295644' });
  const tracked = trackReads(data, parse(film));
  expect(trackReads(data, parse(film))).toBe(tracked);
  expect(trackReads(tracked, parse(film))).toBe(tracked);
  expect(tracked.subject).toBe(tracked.subject);
  expect(JSON.stringify(tracked)).toBe(JSON.stringify(data));
  expect((await check(film)).reads).toMatchObject({ leaves: 6, read: 6, paths: [] });
  expect(readsReport().documents.Film!.results).toBe(1);
});

test('a frozen result of a cache, with names of its own, is copied with these', () => {
  const hidden = Symbol('hidden');
  const frozen = Object.freeze({ __typename: 'Query', __id: 'root', [hidden]: 1, at: new Date(0) });
  const tracked = trackReads(frozen, 'query Frozen { at }');
  expect(tracked).toEqual(frozen);
  expect(tracked[hidden]).toBe(1);
  expect(tracked.at).toBeInstanceOf(Date);
});

test('a file that is no report of reads, and --fail-on without one, end with code 2 and a sentence', async () => {
  const wrong = file({ version: 2 }, 'json');
  const document = file('query A { viewer { user { id } } }', 'graphql');
  const one = await runProgram({}, ['check', document, '--reads', wrong]);
  expect([one.code, one.err]).toEqual([2, expect.stringContaining('is not what `readsReport()`')]);
  const other = await runProgram({}, ['check', document, '--fail-on', 'unread-calls']);
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('--reads FILE')]);
});
