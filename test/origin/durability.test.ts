import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { type Asker, authorization, form, picture, read, temporaryDirectory } from '../support/service.ts';

const LANES = 2;
/** KILL_ROUNDS=100 for a long night. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 4);
const PICTURE_BYTES = 70_000;
const sentence = '写下来的每一个字都要在，一个也不能少。';

test(
  'what was acknowledged survives a kill, whole, and what was not is whole or absent',
  { timeout: 180_000 + ROUNDS * 60_000 },
  async () => {
    const acknowledged = await Promise.all(Array.from({ length: LANES }, killedAgainAndAgain));
    for (const count of acknowledged) expect(count).toBeGreaterThan(ROUNDS);
  },
);

/** A service of its own, killed in the middle of its work; gives how many writes it said yes to. */
async function killedAgainAndAgain(): Promise<number> {
  const dataDir = temporaryDirectory();
  let running = await start(dataDir);
  try {
    const { books } = (await ask(running.url, 'GET', '/v2/book/search?q=出版&count=100&fields=id', 'carol')).body;
    const shelf: string[] = books.map((book: { id: string }) => book.id);
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round++) {
      // By count, for a machine may be slow; and a while later, for others are then at other places of their work.
      const { child } = running;
      const exited = once(child, 'exit');
      const paths = await writeUntilGone(running.url, shelf, (count) => {
        if (count === 2 + (round % 5)) setTimeout(() => child.kill('SIGKILL'), (round % 4) * 5);
      });
      await exited;
      acknowledged += paths.length;

      running = await start(dataDir);
      for (const { path, as } of paths) {
        expect(await ask(running.url, 'GET', path, as), `${path} of round ${round}`).toMatchObject({ status: 200 });
      }
      await expectNoHalves(running.url);
    }
    return acknowledged;
  } finally {
    running.child.kill('SIGKILL');
  }
}

/** Writes from several sides until the service is gone; gives what it said yes to, and tells how much that is each time it does. */
async function writeUntilGone(url: string, shelf: string[], onAcknowledged: (count: number) => void) {
  const known: { path: string; as: Asker }[] = [];
  const pictured = { 1: picture('png', PICTURE_BYTES), 2: picture('jpg', PICTURE_BYTES) };
  const noted = { title: '存', pids: 'p_1,p_2', image_1: pictured[1], image_2: pictured[2] };
  const writers: (() => Promise<string | undefined>)[] = [
    async () => {
      const answer = await ask(
        url,
        'POST',
        '/v2/book/6082808/annotations',
        'alice',
        form({ content: sentence, ...pictured }),
      );
      return `/v2/book/annotation/${answer.body.id}`;
    },
    async () => {
      const answer = await ask(url, 'POST', '/v2/notes', 'bob', form({ ...noted, content: '<图片p_1><图片p_2>' }));
      return `/v2/note/${answer.body.id}`;
    },
    async () => {
      const path = `/v2/book/${shelf.pop()}/collection`;
      const { status } = await ask(url, 'POST', path, 'carol', form({ status: 'read', tags: '甲 乙 丙', rating: '5' }));
      return status === 201 ? path : undefined;
    },
  ];
  await Promise.all(
    writers.map(async (write, n) => {
      try {
        for (;;) {
          const path = await write();
          if (path === undefined) continue;
          known.push({ path, as: (['alice', 'bob', 'carol'] as const)[n] ?? null });
          onAcknowledged(known.length);
        }
      } catch {
        // gone
      }
    }),
  );
  return known;
}

async function expectNoHalves(url: string) {
  const { annotations } = (await ask(url, 'GET', '/v2/book/user/alice/annotations?count=30', 'alice')).body;
  const photos: string[] = [];
  for (const annotation of annotations) {
    if (annotation.content !== sentence) continue;
    expect(Object.keys(annotation.photos)).toEqual(['1', '2']);
    photos.push(...Object.values<string>(annotation.photos));
  }
  const { notes } = (await ask(url, 'GET', '/v2/note/user_created/bob?count=30', 'bob')).body;
  for (const note of notes) {
    if (note.title !== '存') continue;
    expect(note.content).toBe('[img=1:C][/img][img=2:C][/img]');
    expect(Object.keys(note.photos)).toEqual(['1', '2']);
    photos.push(...Object.values<string>(note.photos));
  }
  const { collections } = (await ask(url, 'GET', '/v2/book/user/carol/collections?tag=甲&count=30', 'carol')).body;
  for (const { tags } of collections) expect(tags).toEqual(['甲', '乙', '丙']);
  for (const photo of photos) expect((await (await fetch(photo)).arrayBuffer()).byteLength).toBe(PICTURE_BYTES);
}

async function ask(url: string, method: string, path: string, as: Asker, body?: FormData) {
  return read(await fetch(url + path, { method, headers: authorization(as), ...(body && { body }) }));
}

async function start(dataDir: string): Promise<{ url: string; child: ChildProcess }> {
  // Nothing else of the environment: vitest has a BASE_URL of its own.
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, ORIGIN_PORT: '0' };
  const child = spawn(process.execPath, ['dist/main.js', 'origin'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
      const url = /http:\/\/[\w.:]+/.exec(said)?.[0];
      if (url) resolve(url);
    });
    child.on('exit', () => reject(new Error(`the origin did not start: ${said}`)));
  });
  return { url, child };
}
