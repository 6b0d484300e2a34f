/** How many processors this process may use. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

/** Node before 22 knows the cores of the machine, not the quota of its container. Quotas are rounded down, because more processes would stall. */
export function availableProcessors(root = '/', cores = availableParallelism()): number {
  const quotas = cgroupsOf(root).flatMap(({ folder, version }) => (version === 2 ? quotaOf2 : quotaOf1)(folder) ?? []);
  return Math.max(1, Math.floor(Math.min(cores, ...quotas)));
}

interface Cgroup {
  folder: string;
  version: 1 | 2;
}

/** The control groups of this process that may limit it: its own, and all around it. */
function cgroupsOf(root: string): Cgroup[] {
  const lines = readText(join(root, 'proc/self/cgroup'))?.split('\n') ?? [];
  const mount = join(root, 'sys/fs/cgroup');
  return lines.flatMap((line): Cgroup[] => {
    const [, id, controllers = '', path = ''] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (id === '0' && controllers === '')
      return [mount, join(mount, 'unified')].flatMap((top) =>
        around(top, path).map((folder) => ({ folder, version: 2 })),
      );
    if (!controllers.split(',').includes('cpu')) return [];
    return [controllers, 'cpu'].flatMap((name) =>
      around(join(mount, name), path).map((folder) => ({ folder, version: 1 })),
    );
  });
}

/** In a container the path is often that of the host, and only the folder at the top is there. */
function around(top: string, path: string): string[] {
  const folders = [];
  for (let each = path; each !== '/'; each = dirname(each)) folders.push(join(top, each));
  return [...folders, top];
}

/** `50000 100000`: microseconds of each period. `max`: no quota. */
function quotaOf2(folder: string): number | undefined {
  const [quota, period] = (readText(join(folder, 'cpu.max')) ?? '').trim().split(' ');
  return ratio(quota, period);
}

/** -1: no quota. */
function quotaOf1(folder: string): number | undefined {
  return ratio(readText(join(folder, 'cpu.cfs_quota_us')), readText(join(folder, 'cpu.cfs_period_us')));
}

function ratio(quota: string | undefined, period: string | undefined): number | undefined {
  const processors = Number(quota) / Number(period);
  return processors > 0 && Number.isFinite(processors) ? processors : undefined;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
