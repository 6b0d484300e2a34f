/** The largest requests that are allowed, with a key and without, under a watch on the event loop of the process. */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type ArrivedWrite, lateService } from '../../../support/late-service.ts';
import { type Program, startProgram } from '../../../support/program.ts';
import { picture } from '../../../support/service.ts';
import { pictures, uploadForm } from '../../../support/upload.ts';

/** More than without a key. */
const EXTRA_MS = 50;
/** The machine may be slow in some of them; work of the request is in all. */
const ROUNDS = 8;

let lost = '';
let service: Awaited<ReturnType<typeof lateService>>;
let program: Program;
let watch: Awaited<ReturnType<typeof watchOf>>;

beforeAll(async () => {
  service = await lateService((write: ArrivedWrite) => {
    write.commit();
    if (write.content === lost) write.lose();
    else write.respond();
  });
  program = await startProgram({
    BASE_URL: service.url,
    EVENT_BASE_URL: service.url,
    PORT: '0',
    UPSTREAM_SETTLE_MS: '100',
  });
  watch = await watchOf(`${program.url}/health`);
  await keyedClient(program.url)(commentOf('who is it'), randomUUID());
});
afterAll(async () => {
  await watch.end();
  await program.stop();
});

/** Requests one after the other, in a thread whose turns are its own. */
async function watchOf(url: string) {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { Agent, get } = require('node:http');
    const agent = new Agent({ keepAlive: true });
    let longest = 0, begun = performance.now();
    const ask = () => {
      begun = performance.now();
      get(workerData, { agent }, (answer) => answer.resume().once('end', () => {
        longest = Math.max(longest, performance.now() - begun);
        setTimeout(ask, 1);
      }));
    };
    ask();
    parentPort.on('message', () => { parentPort.postMessage(Math.max(longest, performance.now() - begun)); longest = 0; });`;
  const worker = new Worker(source, { eval: true, workerData: url });
  /** The longest since it was asked last. */
  const longest = () =>
    new Promise<number>((resolve) => {
      worker.once('message', resolve);
      worker.postMessage('longest');
    });
  await longest();
  return { longest, end: () => worker.terminate() };
}

const commentOf = (content: string) =>
  JSON.stringify({
    query: `mutation ($content: String!) { createNoteComment(input: { noteId: "7", content: $content }) { comment { id } } }`,
    variables: { content },
  });
const likeWith = (more: string) =>
  `{"query":"mutation { likeNote(input: { id: \\"7\\" }) { note { id } } }","variables":{"more":${more}}}`;

/** Characters that normalisation makes longest, of three bytes each. */
const longText = (mark: string) => mark + '\ufdfa'.repeat(300_000);
const members = Array.from({ length: 9_000 }, (_, at) => `"${(at * 7_919) % 9_000}${'m'.repeat(80)}":"x"`);
const { pictures: given, files } = pictures(
  Array.from({ length: 12 }, (_, at) => at + 1),
  () => picture('png', 2_990_000),
);

const bodies: readonly [what: string, body: () => string | FormData][] = [
  [
    'arrays that nest around one long text',
    () => likeWith(`${'['.repeat(2_000)}"${'x'.repeat(900_000)}"${']'.repeat(2_000)}`),
  ],
  ['many members with long names', () => likeWith(`{${members.join()}}`)],
  ['many small values', () => likeWith(`[${Array<number>(9_900).fill(1).join()}]`)],
  [
    'a long text whose response is lost, and which is looked for among many new ones',
    () => {
      lost = longText(randomUUID());
      service.comments.length = 0;
      for (let at = 0; at < 95; at++)
        service.comments.push({ id: String(at), content: `${at} ${'\ufdfa'.repeat(400)}`, author: { id: 'alice' } });
      return commentOf(lost);
    },
  ],
  [
    'files',
    () =>
      uploadForm(
        'mutation ($input: CreateNoteInput!) { createNote(input: $input) { note { id } } }',
        { input: { title: 't', content: 'c', pictures: given } },
        files,
      ),
  ],
];

/** A machine that does something else beside it is measured too, so it does not run with the other tests. */
const isMeasured = process.env.SETTLE_WRITES !== undefined;
test.skipIf(isMeasured)(
  'how long others wait beside the largest bodies is measured by npm run settle',
  () => undefined,
);

test.skipIf(!isMeasured).each(bodies)(
  '%s: with a key others wait no longer',
  { timeout: 600_000 },
  async (what, body) => {
    const send = keyedClient(program.url);
    const silenceOf = async (key: string | undefined): Promise<number> => {
      const sent = body();
      await watch.longest();
      await send(sent, key);
      if (key !== undefined) await send(sent, key);
      return watch.longest();
    };
    let least = Infinity;
    const rounds: string[] = [];
    for (let round = 0; round < ROUNDS && least > EXTRA_MS; round++) {
      const without = await silenceOf(undefined);
      const withKey = await silenceOf(randomUUID());
      rounds.push(`${Math.round(withKey)} - ${Math.round(without)}`);
      least = Math.min(least, withKey - without);
    }
    console.log(`${what}: ${rounds.join(', ')} ms`);
    expect(least).toBeLessThanOrEqual(EXTRA_MS);
  },
);
