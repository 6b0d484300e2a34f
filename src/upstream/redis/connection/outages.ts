/** Reports what is wrong with one Redis: once when it lasts, and once when nothing has been wrong for as long. */
import type { ReportAvailability } from '../../availability.ts';

/** What is over sooner is no outage: one late call, or a connection that Redis closes because it is idle. */
export const BRIEF_MS = 1_000;

/** Returns what ends the reports. `trouble`: what is wrong now. */
export function reportWhatLasts(trouble: () => string | undefined, report: ReportAvailability): () => void {
  let isReported = false;
  let wasWrong = false;
  const watch = setInterval(() => {
    const reason = trouble();
    const isWrong = reason !== undefined;
    if (isWrong === wasWrong && isWrong !== isReported) {
      isReported = isWrong;
      report(reason);
    }
    wasWrong = isWrong;
  }, BRIEF_MS).unref();
  return () => clearInterval(watch);
}
