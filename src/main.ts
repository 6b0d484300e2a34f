/** The entry point. It loads the rest on demand, so that signals are handled before anything else is loaded. */
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';

// The first process of a container has no default action for signals: without a handler the kernel drops them.
if (process.pid === 1)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));

// By default, on a machine with much memory, V8 lets the heap grow to several times of what is in use. This overrides NODE_OPTIONS.
setFlagsFromString('--heap-growing-percent=100');

await import('./program.ts');
