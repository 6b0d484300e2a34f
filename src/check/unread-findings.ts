/** What `--reads` adds to a check: how much of each operation is read, and what it would cost without the rest. */
import { costTreeOf } from '../engine/cost/call-cost.ts';
import { type Calls, callsWithout } from '../engine/cost/cost-tree.ts';
import type { CheckResult } from './check-operation.ts';
import type { Finding, UnreadKind } from './finding.ts';
import type { Reads } from './reads-file.ts';
import { type UnreadFields, unreadOf } from './unread.ts';

export interface ReadResult {
  /** Undefined if the operation has not been run. */
  unread: UnreadFields | undefined;
  /** The paths of `unread` without which the operation makes fewer calls. */
  withCalls: readonly string[];
  /** Without `unread.paths`; undefined if the operation has no cost. */
  calls: Calls | undefined;
  findings: Finding[];
}

export function createUnreadCheck(reads: Reads, failOn: UnreadKind | undefined) {
  return ({ operation, cost, isValid }: CheckResult): ReadResult => {
    const { document, operationName, place } = operation;
    const unread = isValid && cost ? unreadOf(document, operationName, reads) : undefined;
    if (!unread || !cost) return { unread, withCalls: [], calls: undefined, findings: [] };
    const tree = costTreeOf(cost.usual.plan, cost.usual.variables);
    const without = (paths: readonly string[]) => callsWithout(tree, new Set(paths));
    const { max: most } = without([]);
    const { paths } = unread;
    const withCalls = paths.filter((path) => without([path]).max < most);
    const others = paths.filter((path) => !withCalls.includes(path));
    const findings: Finding[] = [];
    if (withCalls.length > 0)
      findings.push({
        severity: failOn ? 'error' : 'warning',
        code: 'UNREAD_CALLS',
        message: `Nothing reads ${listOf(withCalls)}. Without that, at most ${counted(without(withCalls).max)} instead of ${most}${shareText(unread)}.`,
        place,
      });
    if (others.length > 0)
      findings.push({
        severity: failOn === 'unread-fields' ? 'error' : 'warning',
        code: 'UNREAD_FIELDS',
        message: `Nothing reads ${listOf(others)}.`,
        place,
      });
    return { unread, withCalls, calls: without(paths), findings };
  };
}

const shareText = ({ callBytes, unreadCallBytes }: UnreadFields): string =>
  callBytes === 0 ? '' : `, and ${percent(unreadCallBytes, callBytes)} fewer bytes from the service`;

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

const counted = (calls: number): string => `${calls} ${calls === 1 ? 'call' : 'calls'}`;

const SHOWN = 10;

const listOf = (paths: readonly string[]): string =>
  paths.length <= SHOWN ? paths.join(', ') : `${paths.slice(0, SHOWN).join(', ')} and ${paths.length - SHOWN} more`;

/** `51 of 101 leaves are read (3 were never received); the rest is 960 of 1,003 bytes`. */
export function readText({ unread }: ReadResult): string {
  if (!unread) return 'not run, by the files of reads';
  const { leaves, read, unknown, bytes, unreadBytes } = unread;
  const missing = unknown === 0 ? '' : ` (${unknown} were never received)`;
  const rest = unreadBytes === 0 ? '' : `; the rest is ${percent(unreadBytes, bytes)} of the bytes of the responses`;
  return `${read} of ${leaves} leaves are read${missing}${rest}`;
}
