/** Whether replies to calls of one kind are mostly late: at least half of the last ones, until several in a row are in time. */
const LAST = 20;
const LEAST_LATE = 3;
const IN_TIME_IN_A_ROW = 5;

export function createLateness() {
  /** Whether each of the last calls was late. */
  let last: boolean[] = [];
  let inTime = 0;
  let isSlow = false;
  return {
    isSlow: (): boolean => isSlow,
    note(isLate: boolean): void {
      inTime = isLate ? 0 : inTime + 1;
      last.push(isLate);
      if (last.length > LAST) last.shift();
      if (isSlow) {
        if (inTime >= IN_TIME_IN_A_ROW) this.forget();
        return;
      }
      const late = last.filter(Boolean).length;
      isSlow = late >= LEAST_LATE && late >= last.length / 2;
    },
    forget(): void {
      last = [];
      isSlow = false;
    },
  };
}
