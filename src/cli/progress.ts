/** How far something long has come: one line that changes at a terminal, a line now and then elsewhere. */

export interface Progress {
  /** So many of all are done. */
  at: (done: number, all: number, what: string) => void;
  /** Takes the line away. */
  end: () => void;
}

interface Screen {
  isTTY?: boolean;
  columns?: number;
  write: (text: string) => unknown;
}

/** Elsewhere than at a terminal: so many lines at most, the last of them when all is done. */
const LINES = 10;
/** A terminal is not drawn more often: drawing takes longer than a batch. */
const DRAWN_MS = 50;

export function createProgress(screen: Screen): Progress {
  let told = 0;
  let drawn = 0;
  let isDrawn = false;

  function draw(done: number, all: number, what: string): void {
    if (done < all && Date.now() - drawn < DRAWN_MS) return;
    drawn = Date.now();
    isDrawn = true;
    const percent = `${Math.floor((100 * done) / all)} %`.padStart(5);
    const text = `${percent}  ${what}`;
    // A line that breaks could not be taken back.
    screen.write(`\r\x1b[K${screen.columns ? text.slice(0, screen.columns - 1) : text}`);
  }

  function tell(done: number, all: number, what: string): void {
    const part = Math.floor((LINES * done) / all);
    if (part <= told) return;
    told = part;
    screen.write(`${what}\n`);
  }

  return {
    at: (done, all, what) => (screen.isTTY ? draw : tell)(done, all, what),
    end: () => {
      if (isDrawn) screen.write('\r\x1b[K');
    },
  };
}
