/** The log: lines of JSON whose levels are words, as LOG_LEVEL has them, and whose texts control no terminal. */
import { write as writeFile } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import { printable } from './text/printable.ts';

/** Bytes of lines that wait to be written. Further lines are lost. */
const WAITING_MAX = 1_000_000;

let lost = 0;
/** Lines that could not be written. */
export const lostLines = (): number => lost;

export const createLog = (level: string, to: DestinationStream): Logger =>
  pino({ level, formatters: { level: (label) => ({ level: label }) }, hooks: { streamWrite: printable } }, to);

/** Logs to a function of the host. What is wrong with it is no error of whoever logs. */
export function logTo(onLine: (line: string) => unknown): DestinationStream {
  const pass = async (line: string) => onLine(line);
  return { write: (line) => void pass(line).catch(() => void lost++) };
}

/** Logs to standard error. Nobody waits for a line, and one that cannot be written is lost: the next is tried again. */
export function logToStderr(stderr: Writable = process.stderr) {
  // Without a listener such an error would end the process. Facades of one process need one.
  if (!stderr.listeners('error').includes(ignore)) stderr.on('error', ignore);
  return {
    write(line: string): void {
      if (stderr.writableLength > WAITING_MAX) lost++;
      else stderr.write(line, (error) => void (error && lost++));
    },
    /** Calls back once the lines so far are written or lost. */
    flush: (onFlushed: () => void): void => void stderr.write('', onFlushed),
  };
}

const ignore = (): void => undefined;

/** Standard error of a process of its own: neither a slow disk nor a terminal that is stopped holds up the process, as they would by default. */
export function ownStderr(): Writable {
  const { stderr } = process;
  (stderr as { _handle?: { setBlocking?: (on: boolean) => void } })._handle?.setBlocking?.(false);
  // Pipes and terminals are sockets. `fstatSync` of a pipe would keep Node 20 from resolving the symbolic links of packages.
  return stderr instanceof Socket ? stderr : fileStream(2);
}

/** The stream itself has no errors, because it would be at its end with one. */
function fileStream(file: number): Writable {
  let isCut = false;
  return new Writable({
    write(line: Buffer, _, onWritten) {
      const bytes = isCut ? Buffer.concat([Buffer.from('\n'), line]) : line;
      const next = (from: number) =>
        writeFile(file, bytes, from, (error, written) => {
          if (error) lost++;
          if (!error && from + written < bytes.length) return next(from + written);
          isCut = error !== null && from > 0;
          onWritten();
        });
      next(0);
    },
  });
}
