import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { picture } from '../support/service.ts';
import { uploadForm } from '../support/upload.ts';

const GROWTH_MAX = 64_000_000;
const annotate =
  'mutation ($input: CreateAnnotationInput!) { createAnnotation(input: $input) { annotation { pictures { number } } } }';

const run = promisify(execFile);
const residentBytes = async (pid: number) => Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) * 1024;

test('twenty concurrent uploads of 2.9 MB are streamed: the facade does not buffer them', async () => {
  const { origin, ...service } = await startProgram({ ORIGIN_PORT: '0' }, ['origin']);
  onTestFinished(async () => void (await service.stop()));
  const facade = await startProgram({
    ...patientEnv,
    PORT: '0',
    BASE_URL: origin,
    EVENT_BASE_URL: origin,
  });
  onTestFinished(async () => void (await facade.stop()));
  const send = async (bytes: number) => {
    const input = {
      bookId: '1003078',
      content: '十六个字符以上的一段读书笔记，正好够长。',
      pictures: [{ number: 1, file: null }],
    };
    const form = uploadForm(annotate, { input }, { 'input.pictures.0.file': picture('jpg', bytes) });
    const headers = { authorization: 'Bearer demo-alice', 'x-graphql-csrf': '1' };
    const response = await fetch(`${facade.url}/graphql`, { method: 'POST', body: form, headers });
    return response.json();
  };
  // Small uploads first, so that modules and buffers for twenty uploads are not measured.
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, () => send(1_000)));

  const before = await residentBytes(facade.pid);
  let peak = before;
  let isDone = false;
  const measuring = (async () => {
    while (!isDone) peak = Math.max(peak, await residentBytes(facade.pid));
  })();
  const responses = await Promise.all(Array.from({ length: 20 }, () => send(2_900_000)));
  isDone = true;
  await measuring;

  for (const answer of responses)
    expect(answer).toEqual({ data: { createAnnotation: { annotation: { pictures: [{ number: 1 }] } } } });
  console.info(`resident memory grew by ${Math.round((peak - before) / 1e6)} MB, to ${Math.round(peak / 1e6)} MB`);
  expect(peak - before).toBeLessThan(GROWTH_MAX);
}, 300_000);
