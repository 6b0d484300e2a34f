import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';

/** Where the data of origins are made: in memory, where the system has it, because the origin waits for the disk after each write. */
export const dataFolder = (): string => (existsSync(MEMORY) ? MEMORY : tmpdir());
