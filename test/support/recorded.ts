import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const complete = fileURLToPath(new URL('../../../shared/corpus/', import.meta.url));

/** The folder of recorded responses of the real service: the complete ones where they lie beside the repository, or those with short texts. */
export const recordedFolder = existsSync(complete)
  ? complete
  : fileURLToPath(new URL('../fixtures/recorded/', import.meta.url));

export const recordedText = (file: string): string => readFileSync(recordedFolder + file, 'utf8');
