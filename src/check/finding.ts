/** What a check finds. */

export interface FileLocation {
  file: string;
  /** From 1. */
  line: number;
}

export interface Finding {
  /** A check fails with errors only. */
  severity: 'error' | 'warning';
  /** The code that the server responds with, or one of the check. */
  code: string;
  message: string;
  /** What of the schema it is about. */
  coordinate?: string | undefined;
  location: FileLocation;
}

/** Exit code if the command cannot run, cannot print what it found, or has not read all documents. */
export const CHECK_USAGE = 2;
