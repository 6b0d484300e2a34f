import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';

/**
 * Where the data of origins are made: in memory, where the system has it, because the origin waits for the disk after each write. A run of
 * tests has a folder of its own in it, removed at its end: workers that are ended remove nothing.
 */
export const dataFolder = (): string => process.env.TEST_DATA ?? (existsSync(MEMORY) ? MEMORY : tmpdir());
