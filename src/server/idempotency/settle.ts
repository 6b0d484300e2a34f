/** Looks at the service until it is known whether a write was carried out, or until the operation ends. */
import type { GuardedWrite } from '../../upstream/write-guard.ts';
import { pauseUnlessCancelled } from './pause.ts';
import { type Attempt, type ReadBack, type WriteRule, absent, unknown } from './rules/rule.ts';

export interface Settings {
  /** How long a write whose response is lost may still be carried out: before that, its absence decides nothing. */
  quietMs: number;
  /** The deadline of a call. */
  callTimeoutMs: number;
}

interface Circumstances {
  settings: Settings;
  sentAt: number;
  /** A later write with a key was sent to the thing, or may have been. */
  isOvertaken: boolean;
  /** It was sent by an earlier request. */
  isInherited: boolean;
}

/** A write that changes nothing the second time is sent again so soon after the first only: later, others may have changed the thing. */
const REPEATED_WITHIN_MS = 60_000;
/** When it looks: parts of the quiet time. */
const LOOKS = [0, 0.3, 1];
/** The most looks for one write that was sent. */
export const LOOKS_MAX = LOOKS.length;

export async function lookFor(
  rule: WriteRule<object>,
  { input, cancellation }: Pick<GuardedWrite, 'input' | 'cancellation'>,
  attempt: Attempt,
  { settings, sentAt, isOvertaken, isInherited }: Circumstances,
): Promise<ReadBack> {
  if (rule.isHidden) return unknown;
  const age = Date.now() - sentAt;
  if (!rule.find) return isOvertaken || age > REPEATED_WITHIN_MS || age < 0 ? unknown : absent;
  const isQuiet = isInherited && age > settings.callTimeoutMs + settings.quietMs;
  const startedAt = performance.now();
  for (const part of isQuiet ? [1] : LOOKS) {
    const leftMs = isQuiet ? 0 : startedAt + part * settings.quietMs - performance.now();
    if (leftMs > 0) await pauseUnlessCancelled(leftMs, cancellation);
    if (cancellation.reason) return unknown;
    const finding = await rule.find(input, attempt).catch(() => undefined);
    if (finding && finding.kind !== 'absent') return finding;
    if (finding && part === 1) return isOvertaken && !rule.creates ? unknown : absent;
  }
  return unknown;
}
