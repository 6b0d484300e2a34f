import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { made } from '../support/made.ts';
import { thorough } from '../support/optional.ts';
import { type Credential, authorization, form, picture, read, temporaryDirectory } from '../support/service.ts';

const LANES = 2;
/** KILL_ROUNDS=100 for a long run. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? (thorough ? 4 : 2));
const PICTURE_BYTES = 70_000;
const sentence = '写下来的每一个字都要在，一个也不能少。';

test(
  'acknowledged writes survive SIGKILL completely, and others are complete or absent',
  { timeout: 180_000 + ROUNDS * 60_000 },
  async () => {
    const acknowledged = await Promise.all(Array.from({ length: LANES }, killRepeatedly));
    for (const count of acknowledged) expect(count).toBeGreaterThan(ROUNDS);
  },
);

/** Kills an origin of its own in the middle of its writes, several times; returns the number of acknowledged writes. */
async function killRepeatedly(): Promise<number> {
  const dataDir = temporaryDirectory();
  let running = await start(dataDir);
  try {
    const { books } = (await request(running.url, 'GET', '/v2/book/search?q=出版&count=100&fields=id', 'carol')).body;
    const bookIds: string[] = books.map((book: { id: string }) => book.id);
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round++) {
      // Kill after a number of writes, because machines differ in speed, and with a varying delay to hit different steps of a write.
      const { child } = running;
      const exited = once(child, 'exit');
      const paths = await writeUntilGone(running.url, bookIds, (count) => {
        if (count === 2 + (round % 5)) setTimeout(() => child.kill('SIGKILL'), (round % 4) * 5);
      });
      await exited;
      acknowledged += paths.length;

      running = await start(dataDir);
      for (const { path, as } of paths) {
        expect(await request(running.url, 'GET', path, as), `${path} of round ${round}`).toMatchObject({ status: 200 });
      }
      await expectNoPartialWrites(running.url);
    }
    return acknowledged;
  } finally {
    running.child.kill('SIGKILL');
  }
}

/** Writes concurrently until the service is gone; returns the acknowledged writes and calls onAcknowledged for each. */
async function writeUntilGone(url: string, bookIds: string[], onAcknowledged: (count: number) => void) {
  const acknowledged: { path: string; as: Credential }[] = [];
  const pictured = { 1: picture('png', PICTURE_BYTES), 2: picture('jpg', PICTURE_BYTES) };
  const noted = { title: '存', pids: 'p_1,p_2', image_1: pictured[1], image_2: pictured[2] };
  const writers: (() => Promise<string | undefined>)[] = [
    async () => {
      const response = await request(
        url,
        'POST',
        '/v2/book/6082808/annotations',
        'alice',
        form({ content: sentence, ...pictured }),
      );
      return `/v2/book/annotation/${response.body.id}`;
    },
    async () => {
      const response = await request(
        url,
        'POST',
        '/v2/notes',
        'bob',
        form({ ...noted, content: '<图片p_1><图片p_2>' }),
      );
      return `/v2/note/${response.body.id}`;
    },
    async () => {
      const path = `/v2/book/${bookIds.pop()}/collection`;
      const { status } = await request(
        url,
        'POST',
        path,
        'carol',
        form({ status: 'read', tags: '甲 乙 丙', rating: '5' }),
      );
      return status === 201 ? path : undefined;
    },
  ];
  await Promise.all(
    writers.map(async (write, n) => {
      try {
        for (;;) {
          const path = await write();
          if (path === undefined) continue;
          acknowledged.push({ path, as: (['alice', 'bob', 'carol'] as const)[n] ?? null });
          onAcknowledged(acknowledged.length);
        }
      } catch {
        // The service is gone.
      }
    }),
  );
  return acknowledged;
}

async function expectNoPartialWrites(url: string) {
  const { annotations } = (await request(url, 'GET', '/v2/book/user/alice/annotations?count=30', 'alice')).body;
  const photos: string[] = [];
  for (const annotation of annotations) {
    if (annotation.content !== sentence) continue;
    expect(Object.keys(annotation.photos)).toEqual(['1', '2']);
    photos.push(...Object.values<string>(annotation.photos));
  }
  const { notes } = (await request(url, 'GET', '/v2/note/user_created/bob?count=30', 'bob')).body;
  for (const note of notes) {
    if (note.title !== '存') continue;
    expect(note.content).toBe('[img=1:C][/img][img=2:C][/img]');
    expect(Object.keys(note.photos)).toEqual(['1', '2']);
    photos.push(...Object.values<string>(note.photos));
  }
  const { collections } = (await request(url, 'GET', '/v2/book/user/carol/collections?tag=甲&count=30', 'carol')).body;
  for (const { tags } of collections) expect(tags).toEqual(['甲', '乙', '丙']);
  for (const photo of photos) expect((await (await fetch(photo)).arrayBuffer()).byteLength).toBe(PICTURE_BYTES);
}

async function request(url: string, method: string, path: string, as: Credential, body?: FormData) {
  return read(await fetch(url + path, { method, headers: authorization(as), ...(body && { body }) }));
}

async function start(dataDir: string): Promise<{ url: string; child: ChildProcess }> {
  // Pass nothing else of the environment: vitest sets a BASE_URL.
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, ORIGIN_PORT: '0' };
  const child = spawn(process.execPath, [await made('program'), 'origin'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const url = /http:\/\/[\w.:]+/.exec(output)?.[0];
      if (url) resolve(url);
    });
    child.on('exit', () => reject(new Error(`the origin did not start: ${output}`)));
  });
  return { url, child };
}
