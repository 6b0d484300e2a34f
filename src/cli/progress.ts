/** The progress of a long task: a line that is redrawn at a terminal, a few lines elsewhere. */

interface Screen {
  isTTY?: boolean;
  columns?: number;
  write: (text: string) => unknown;
}

/** Without a terminal: the maximum number of lines. The last one is written at the end. */
const LINES = 10;
/** The minimum time between two updates of a terminal, because drawing takes longer than a step. */
const REDRAW_MS = 50;

export function createProgress(screen: Screen) {
  let linesWritten = 0;
  let drawnAt = 0;

  function draw(done: number, all: number, what: string): void {
    if (done < all && Date.now() - drawnAt < REDRAW_MS) return;
    drawnAt = Date.now();
    const percent = `${Math.floor((100 * done) / all)} %`.padStart(5);
    const text = `${percent}  ${what}`;
    // A line that wraps could not be removed.
    screen.write(`\r\x1b[K${screen.columns ? text.slice(0, screen.columns - 1) : text}`);
  }

  function writeLine(done: number, all: number, what: string): void {
    const part = Math.floor((LINES * done) / all);
    if (part <= linesWritten) return;
    linesWritten = part;
    screen.write(`${what}\n`);
  }

  return {
    /** Reports that `done` of `all` steps are done. */
    at: screen.isTTY ? draw : writeLine,
    /** Removes the line. */
    end: () => {
      if (drawnAt > 0) screen.write('\r\x1b[K');
    },
  };
}
