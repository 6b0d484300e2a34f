import { runHooksAfterFile } from './support/after-file.ts';

runHooksAfterFile();
