import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { processes } from '../../src/config/kinds.ts';
import { availableProcessors } from '../../src/config/processors.ts';
import { temporaryDirectory } from '../support/service.ts';

/** A root directory with these files. */
function rootWith(files: Record<string, string>): string {
  const root = temporaryDirectory();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), `${text}\n`);
  }
  return root;
}

const own = 'proc/self/cgroup';
const v2 = 'sys/fs/cgroup';
const v1 = 'sys/fs/cgroup/cpu,cpuacct';

test.each<[string, number, Record<string, string>]>([
  ['no control group', 8, {}],
  ['version 2 without a quota', 8, { [own]: '0::/', [`${v2}/cpu.max`]: 'max 100000' }],
  ['version 2 with half a processor', 1, { [own]: '0::/', [`${v2}/cpu.max`]: '50000 100000' }],
  ['version 2 with two processors', 2, { [own]: '0::/', [`${v2}/cpu.max`]: '200000 100000' }],
  ['version 2 with 2.9 processors', 2, { [own]: '0::/', [`${v2}/cpu.max`]: '290000 100000' }],
  ['version 2 with more than there are', 8, { [own]: '0::/', [`${v2}/cpu.max`]: '1600000 100000' }],
  [
    'a unit of systemd',
    3,
    { [own]: '0::/system.slice/x.service', [`${v2}/system.slice/x.service/cpu.max`]: '300000 100000' },
  ],
  [
    'the group around its own',
    2,
    { [own]: '0::/pod/one', [`${v2}/pod/cpu.max`]: '200000 100000', [`${v2}/pod/one/cpu.max`]: 'max 100000' },
  ],
  ['version 2, whose path is that of the host', 4, { [own]: '0::/docker/abc', [`${v2}/cpu.max`]: '400000 100000' }],
  [
    'version 1 without a quota',
    8,
    { [own]: '4:cpu,cpuacct:/', [`${v1}/cpu.cfs_quota_us`]: '-1', [`${v1}/cpu.cfs_period_us`]: '100000' },
  ],
  [
    'version 1 with half a processor',
    1,
    { [own]: '4:cpu,cpuacct:/', [`${v1}/cpu.cfs_quota_us`]: '50000', [`${v1}/cpu.cfs_period_us`]: '100000' },
  ],
  [
    'version 1 beside version 2, whose path is that of the host',
    3,
    {
      [own]: '12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/docker/abc',
      [`${v1}/cpu.cfs_quota_us`]: '150000',
      [`${v1}/cpu.cfs_period_us`]: '50000',
    },
  ],
  [
    'version 1, mounted by the name of one controller',
    2,
    {
      [own]: '4:cpuacct,cpu:/',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
    },
  ],
  ['files that cannot be read as numbers', 8, { [own]: '0::/', [`${v2}/cpu.max`]: 'odd' }],
])('of 8 cores, with %s: %i', (_, expected, files) => {
  expect(availableProcessors(rootWith(files), 8)).toBe(expected);
});

test('WORKERS=auto is the number of processors that may be used', () => {
  expect(processes.read('auto')).toBe(availableProcessors());
});
