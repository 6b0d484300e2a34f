/** The log: lines of JSON whose levels are words, as LOG_LEVEL has them, and whose texts control no terminal. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { printable } from './text/printable.ts';

export const createLog = (level: string, to: DestinationStream): Logger =>
  pino({ level, formatters: { level: (label) => ({ level: label }) }, hooks: { streamWrite: printable } }, to);
