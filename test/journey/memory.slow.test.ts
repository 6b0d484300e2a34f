import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { picture } from '../support/service.ts';
import { pictures, uploadForm } from '../support/upload.ts';

const annotate =
  'mutation ($input: CreateAnnotationInput!) { createAnnotation(input: $input) { annotation { pictures { number } } } }';
const publish = 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures } }';

const run = promisify(execFile);
const residentBytes = async (pid: number) => Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) * 1024;

async function open() {
  const { origin, ...service } = await startProgram({ ORIGIN_PORT: '0' }, ['origin']);
  onTestFinished(async () => void (await service.stop()));
  const facade = await startProgram({ ...patientEnv, PORT: '0', BASE_URL: origin, EVENT_BASE_URL: origin });
  onTestFinished(async () => void (await facade.stop()));
  const send = async (body: FormData, token = 'demo-alice') => {
    const headers = { authorization: `Bearer ${token}`, 'x-graphql-csrf': '1' };
    const response = await fetch(`${facade.url}/graphql`, { method: 'POST', body, headers });
    return response.json();
  };
  /** The largest resident memory while `work` runs. */
  async function peakOf(work: () => Promise<unknown>): Promise<number> {
    let peak = 0;
    let isDone = false;
    const measuring = (async () => {
      while (!isDone) peak = Math.max(peak, await residentBytes(facade.pid));
    })();
    await work().finally(() => (isDone = true));
    await measuring;
    console.info(`resident memory of at most ${Math.round(peak / 1e6)} MB`);
    return peak;
  }
  return { send, peakOf };
}

function annotation(bytes: number): FormData {
  const { pictures: given, files } = pictures([1], () => picture('jpg', bytes));
  const content = '十六个字符以上的一段读书笔记，正好够长。';
  return uploadForm(annotate, { input: { bookId: '1003078', content, pictures: given } }, files);
}

const numbers = Array.from({ length: 12 }, (_, at) => at + 1);
/** Twelve pictures, of which the last comes first. */
function note(bytes: number): FormData {
  const { pictures: given, files } = pictures(numbers, () => picture('jpg', bytes));
  const reversed = Object.fromEntries(Object.entries(files).reverse());
  return uploadForm(publish, { input: { title: '相册', content: '文', pictures: given } }, reversed);
}

test('twenty uploads of 2.9 MB at once need little more memory than one caller may hold', async () => {
  const { send, peakOf } = await open();
  const all = (bytes: number) => Promise.all(Array.from({ length: 20 }, () => send(annotation(bytes))));
  // Small uploads first, so that modules and buffers for twenty uploads are not measured.
  let before = 0;
  for (let round = 0; round < 3; round++) before = await peakOf(() => all(1_000));
  let answers: unknown[] = [];
  const peak = await peakOf(async () => (answers = await all(2_900_000)));
  for (const answer of answers)
    expect(answer).toEqual({ data: { createAnnotation: { annotation: { pictures: [{ number: 1 }] } } } });
  // A quarter of MAX_HELD_UPLOAD_BYTES, and what is not collected yet.
  expect(peak - before).toBeLessThan(80_000_000);
}, 300_000);

test('four forms of twelve pictures of 2.9 MB at once, in reverse order, are stored, and take turns in memory', async () => {
  const { send, peakOf } = await open();
  const tokens = ['demo-alice', 'demo-bob', 'demo-carol', 'demo-alice'];
  const all = (bytes: number) => Promise.all(tokens.map((token) => send(note(bytes), token)));
  let answers: unknown[] = [];
  const before = await peakOf(async () => (answers = await all(1_000)));
  const peak = await peakOf(async () => (answers = await all(2_900_000)));
  for (const answer of answers) expect(answer).toEqual({ data: { createNote: { storedPictures: numbers } } });
  // MAX_HELD_UPLOAD_BYTES, and what is not collected yet.
  expect(peak - before).toBeLessThan(130_000_000);
}, 300_000);
