/** Memory of the process and of its container, against what the caches and held uploads may take. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config/settings.ts';
import { type Diagnosis, ok, warning } from './diagnosis.ts';
import { CACHE_MAX_BYTES } from '../lib/remember.ts';

export interface Memory {
  /** Limit of the container; undefined without one. */
  limit: number | undefined;
  /** Limit of V8's heap, as --max-old-space-size or the machine sets it. */
  heap: number;
}

const CACHES = Object.values(CACHE_MAX_BYTES).reduce((sum, bytes) => sum + bytes, 0);
/** What the program itself takes. */
const PROGRAM = 120_000_000;
/** Outside the heap: buffers of connections, code, the stacks of threads. */
const OUTSIDE_HEAP = 100_000_000;

type MemorySettings = Pick<Config, 'maxHeldUploadBytes'>;

export function checkMemory({ maxHeldUploadBytes }: MemorySettings, { limit, heap }: Memory = readMemory()): Diagnosis {
  const check = 'memory';
  const needed = CACHES + PROGRAM;
  const outside = OUTSIDE_HEAP + maxHeldUploadBytes;
  const facts = {
    limitBytes: limit ?? null,
    heapLimitBytes: heap,
    neededBytes: needed,
    outsideHeapBytes: outside,
  };
  const message = `${limit === undefined ? 'no limit of a container' : `limit ${mb(limit)}`}, heap at most ${mb(heap)}; caches and program need ${mb(needed)}, and ${mb(outside)} outside of it, uploads included`;
  if (heap < needed)
    return warning(
      check,
      message,
      `The heap is too small for full caches: set NODE_OPTIONS=--max-old-space-size=${Math.ceil(needed / 1e6)} or more.`,
      facts,
    );
  if (limit !== undefined && limit < needed + outside)
    return warning(
      check,
      message,
      `Give the container at least ${mb(needed + outside)}, or it is killed when the caches are full and uploads are held.`,
      facts,
    );
  if (limit !== undefined && heap + outside > limit)
    return warning(
      check,
      message,
      `V8 may use more than the container has: set NODE_OPTIONS=--max-old-space-size=${Math.floor((limit - outside) / 1e6)}, so that it collects garbage in time.`,
      facts,
    );
  return ok(check, message, facts);
}

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function readMemory(): Memory {
  const limits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'].flatMap((file) => {
    const bytes = Number(contentOf(file));
    // Without a limit it is `max`, or a number beyond all memory.
    return bytes > 0 && bytes < totalmem() ? [bytes] : [];
  });
  return { limit: limits[0], heap: getHeapStatistics().heap_size_limit };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
