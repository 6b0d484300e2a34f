/** The log: lines of JSON whose levels are words, as LOG_LEVEL has them. */
import { type DestinationStream, type Logger, pino } from 'pino';

export const createLog = (level: string, to: DestinationStream): Logger =>
  pino({ level, formatters: { level: (label) => ({ level: label }) } }, to);
