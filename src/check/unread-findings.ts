/** What `--reads` adds to a check: how much of each operation is read, and what it would cost without the rest. */
import { type GraphQLSchema, print } from 'graphql';
import { createAssess } from '../engine/documents/assess.ts';
import type { DocumentSettings } from '../engine/documents/limits.ts';
import type { CheckResult } from './check-operation.ts';
import type { Finding, UnreadKind } from './finding.ts';
import type { Reads } from './reads-file.ts';
import { type UnreadFields, unreadOf } from './unread.ts';

export interface ReadResult {
  /** Undefined if the operation has not been run. */
  unread: UnreadFields | undefined;
  /** The paths of `unread` without which the operation makes fewer calls. */
  withCalls: readonly string[];
  /** The operation without `unread.paths`; undefined if nothing is left. */
  cost: Cost | undefined;
  findings: Finding[];
}

type Cost = NonNullable<CheckResult['cost']>;
type Calls = Cost['calls'];

export function createUnreadCheck(
  schema: GraphQLSchema,
  settings: DocumentSettings,
  reads: Reads,
  failOn: UnreadKind | undefined,
) {
  const assess = createAssess(schema, settings);

  return ({ operation, cost, isValid }: CheckResult): ReadResult => {
    const { document, operationName, place } = operation;
    const unread = isValid && cost ? unreadOf(document, operationName, reads) : undefined;
    if (!unread || !cost) return { unread, withCalls: [], cost, findings: [] };
    const costWithout = (paths: readonly string[]): Cost | undefined => {
      const rest = unread.without(paths);
      return rest && assess(print(rest), operationName).cost;
    };
    const callsWithout = (paths: readonly string[]) => costWithout(paths)?.calls ?? { least: 0, likely: 0, most: 0 };
    const { paths } = unread;
    const withCalls = paths.filter((path) => isFewer(callsWithout([path]), cost.calls));
    const others = paths.filter((path) => !withCalls.includes(path));
    const findings: Finding[] = [];
    if (withCalls.length > 0)
      findings.push({
        severity: failOn ? 'error' : 'warning',
        code: 'UNREAD_CALLS',
        message: `Nothing reads ${listOf(withCalls)}. ${callsText(callsWithout(withCalls), cost.calls)}${shareText(unread)}.`,
        place,
      });
    if (others.length > 0)
      findings.push({
        severity: failOn === 'unread-fields' ? 'error' : 'warning',
        code: 'UNREAD_FIELDS',
        message: `Nothing reads ${listOf(others)}.`,
        place,
      });
    return { unread, withCalls, cost: costWithout(paths), findings };
  };
}

const isFewer = (one: Calls, other: Calls): boolean => one.least < other.least || one.most < other.most;

const shown = ({ least, most }: Calls): string => (least === most ? `${most}` : `${least} to ${most}`);

const callsText = (without: Calls, all: Calls): string =>
  `Without that, calls ${shown(without)} instead of ${shown(all)}`;

const shareText = ({ callBytes, unreadCallBytes }: UnreadFields): string =>
  callBytes === 0 ? '' : `, and ${percent(unreadCallBytes, callBytes)} fewer bytes from the service`;

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

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
