import { registerHooks } from './support/hooks.ts';

registerHooks();
