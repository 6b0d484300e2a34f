/** Reports what is wrong with one Redis: once when it lasts, and once when nothing has been wrong for as long. */
import type { ReportAvailability } from '../../availability.ts';

/** What is over sooner is no outage: one late call, or a connection that Redis closes because it is idle. */
export const BRIEF_MS = 1_000;
/** Reasons that only an operator can mend: they say more than what comes before and after them, and are reported beside it. */
export const NEEDS_OPERATOR = /CERT|SSL|TLS|ISSUER|WRONGPASS|NOAUTH|NOPERM/;

/** Returns what ends the reports. `trouble`: what is wrong now. */
export function reportWhatLasts(trouble: () => string | undefined, report: ReportAvailability): () => void {
  let reported: string | undefined;
  let wasWrong = false;
  const watch = setInterval(() => {
    const reason = trouble();
    const isWrong = reason !== undefined;
    const isBegunOrOver = isWrong !== (reported !== undefined);
    if (isWrong === wasWrong && (isBegunOrOver || (reason !== reported && NEEDS_OPERATOR.test(reason ?? ''))))
      report((reported = reason));
    wasWrong = isWrong;
  }, BRIEF_MS).unref();
  return () => clearInterval(watch);
}
