/** `catalog-graphql usage --manifest`: of each release of an app, which of its documents are still run, by whom and at what cost. */
import { basename } from 'node:path';
import { parse } from 'graphql';
import { readManifest, sha256Of } from '../config/documents/trusted-documents.ts';
import { printableLine } from '../lib/text/printable.ts';
import type { UsageReport, UsedDocument } from '../server/features/usage/report.ts';
import { UserError } from '../lib/user-error.ts';
import { countedIn } from './usage-period.ts';

/** The documents of a manifest. */
export interface Release {
  name: string;
  /** The names of operations by the hash of the text. */
  documents: ReadonlyMap<string, string>;
}

/** Throws a UserError. */
export function readRelease(path: string): Release {
  try {
    const texts = [...readManifest(path).values()];
    return { name: basename(path), documents: new Map(texts.map((text) => [sha256Of(text), namesIn(text)])) };
  } catch (error) {
    throw error instanceof UserError ? new UserError(`${path}: ${error.message}`) : error;
  }
}

const namesIn = (text: string): string =>
  parse(text)
    .definitions.flatMap((each) => (each.kind === 'OperationDefinition' ? (each.name?.value ?? 'without a name') : []))
    .join(', ');

/** A release that shares a document with another one is judged by those that it alone has. */
export function printReleases(report: UsageReport, releases: readonly Release[], days: number): string {
  const { lines, isIdle, isLongEnough } = countedIn(report, days);
  const used = new Map(report.documents.map((each) => [each.hash, each]));
  for (const release of releases) {
    const others = releases.filter((each) => each !== release);
    const isShared = (hash: string) => others.some(({ documents }) => documents.has(hash));
    const entries = [...release.documents].map(([hash, names]): Entry => ({
      names,
      own: !isShared(hash),
      count: used.get(hash),
    }));
    const inUse = entries.filter(({ count }) => count && !isIdle(count));
    const own = entries.filter((each) => each.own);
    lines.push(
      `${release.name}: ${inUse.length} of ${entries.length} documents in use, ${own.filter((each) => inUse.includes(each)).length} of the ${own.length} that it alone has${verdictOf(own, inUse)}`,
      ...entries.map(({ names, count }) => `  ${names}: ${readersOf(count)}`),
    );
  }
  return `${lines.map(printableLine).join('\n')}\n`;

  /** Only what the server knew for so long is said to be unused. */
  function verdictOf(own: readonly Entry[], inUse: readonly Entry[]): string {
    if (own.length === 0 || own.some((each) => inUse.includes(each))) return '';
    if (own.some(({ count }) => !count)) return ': not known, the server does not have all of these';
    return isLongEnough && own.every(({ count }) => countedIn({ ...report, since: count!.since }, days).isLongEnough)
      ? `: safe to remove, nobody in ${days} days`
      : ': nobody yet';
  }
}

interface Entry {
  names: string;
  /** No other release has the document. */
  own: boolean;
  /** Undefined if it is no trusted document of the server, which does not count it then. */
  count: UsedDocument | undefined;
}

function readersOf(count: UsedDocument | undefined): string {
  if (!count) return 'not known: no trusted document of this server';
  if (count.requests === 0) return 'nobody';
  const { requests, calls, last, clients } = count;
  const each = (calls / requests).toFixed(1);
  return `run ${requests} times, last ${last}, ${each} upstream calls each; clients ${clients.join(', ')}`;
}
