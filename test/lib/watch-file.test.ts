import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchFile } from '../../src/lib/watch-file.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'watched-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Looks only when the test says so. */
function watching(path: string, current: string) {
  const changes: string[] = [];
  const onUnreadable = vi.fn();
  const onChange = (content: string) => void changes.push(content);
  const watch = watchFile(path, { current, onChange, onUnreadable, everyMs: 2 ** 30 });
  onTestFinished(watch.close);
  const look = async (times = 2) => {
    for (let n = 0; n < times; n++) await watch.check();
    return changes;
  };
  return { look, onUnreadable, close: watch.close };
}

test('a file that is written again is read again, once', async () => {
  const file = join(folder(), 'secret');
  writeFileSync(file, 'one');
  const { look } = watching(file, 'one');
  expect(await look()).toEqual([]);
  writeFileSync(file, 'two');
  expect(await look(5)).toEqual(['two']);
});

test('a file in whose place another is renamed is read again', async () => {
  const file = join(folder(), 'secret');
  writeFileSync(file, 'one');
  const { look } = watching(file, 'one');
  await look();
  writeFileSync(`${file}.new`, 'two');
  renameSync(`${file}.new`, file);
  expect(await look()).toEqual(['two']);
});

test('a mounted secret is read again when the link to its folder is replaced', async () => {
  const root = folder();
  const at = (name: string) => join(root, name);
  const publish = (version: string, content: string) => {
    mkdirSync(at(version));
    writeFileSync(join(at(version), 'token'), content);
    symlinkSync(version, at('..data_tmp'));
    renameSync(at('..data_tmp'), at('..data'));
  };
  publish('..one', 'one');
  symlinkSync('..data/token', at('token'));
  const { look } = watching(at('token'), 'one');
  expect(await look()).toEqual([]);
  publish('..two', 'two');
  rmSync(at('..one'), { recursive: true });
  expect(await look()).toEqual(['two']);
});

test('a file is not read while it is being written', async () => {
  const file = join(folder(), 'secret');
  writeFileSync(file, 'one');
  const { look } = watching(file, 'one');
  await look();
  for (let length = 1; length <= 5; length++) {
    writeFileSync(file, 'x'.repeat(length));
    expect(await look(1)).toEqual([]);
  }
  expect(await look(1)).toEqual(['xxxxx']);
});

test('a file that is touched, or written with the same content, is not reported', async () => {
  const file = join(folder(), 'secret');
  writeFileSync(file, 'one');
  const { look } = watching(file, 'one');
  await look();
  unlinkSync(file);
  writeFileSync(file, 'one');
  expect(await look()).toEqual([]);
});

test('a file that disappears is reported once, and read again when it is back', async () => {
  const file = join(folder(), 'secret');
  writeFileSync(file, 'one');
  const { look, onUnreadable } = watching(file, 'one');
  await look();
  unlinkSync(file);
  expect(await look(3)).toEqual([]);
  expect(onUnreadable.mock.calls).toEqual([['ENOENT']]);
  writeFileSync(file, 'two');
  expect(await look()).toEqual(['two']);
  unlinkSync(file);
  await look();
  expect(onUnreadable).toHaveBeenCalledTimes(2);
});

test('a watch that is closed reports nothing', async () => {
  const file = join(folder(), 'secret');
  writeFileSync(file, 'one');
  const { look, close } = watching(file, 'one');
  await look();
  writeFileSync(file, 'two');
  close();
  expect(await look(3)).toEqual([]);
});

test('whatever happens to a file, its last content is the last reported', async () => {
  const step = fc.oneof(
    fc.record({ how: fc.constantFrom('write', 'rename'), text: fc.string({ maxLength: 3 }) }),
    fc.record({ how: fc.constant('delete'), text: fc.constant('') }),
    fc.record({ how: fc.constant('look'), text: fc.constant('') }),
  );
  const root = mkdtempSync(join(tmpdir(), 'watched-'));
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.string({ maxLength: 3 }), async (steps, last) => {
      const file = join(root, String(runs++));
      writeFileSync(file, 'one');
      let reported = 'one';
      const onChange = (content: string) => {
        expect(content).not.toBe(reported);
        reported = content;
      };
      const watch = watchFile(file, { current: 'one', onChange, everyMs: 2 ** 30 });
      for (const { how, text } of steps) {
        if (how === 'look') await watch.check();
        else if (how === 'delete') rmSync(file, { force: true });
        else {
          const to = how === 'rename' ? `${file}.new` : file;
          writeFileSync(to, text);
          if (to !== file) renameSync(to, file);
        }
      }
      writeFileSync(file, last);
      await watch.check();
      await watch.check();
      watch.close();
      expect(reported).toBe(last);
    }),
    { numRuns: 100 },
  );
  rmSync(root, { recursive: true });
});
