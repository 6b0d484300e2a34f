/** `catalog-graphql check`: what the server would say of documents, without a server and without a network. */
import type { GraphQLSchema } from 'graphql';
import { sha256Of } from '../config/documents/trusted-documents.ts';
import type { DocumentSettings } from '../engine/documents/limits.ts';
import { type CheckResult, createOperationCheck } from './check-operation.ts';
import { type CheckedOperation, IN_SOURCES, readDocuments, unreadSources } from './documents.ts';
import { CHECK_USAGE, type Finding } from './finding.ts';
import { createLostFinder, readOldSchema } from './lost.ts';
import { type Prices, type StoredPrice, readPrices, rises, storedPrice, writePrices } from './price-file.ts';
import { type PricedResult, type Report, type ReportFormat, errorsIn, printReport } from './report.ts';
import { staleFindings } from './stale.ts';
import { UserError } from '../lib/user-error.ts';

export interface CheckOptions {
  manifest?: readonly string[] | undefined;
  /** The file of an older schema. */
  schema?: string | undefined;
  /** The price file. */
  prices?: string | undefined;
  /** Write the price file. */
  update?: boolean | undefined;
  format: ReportFormat;
}

/** Throws a UserError. */
export async function runCheck(
  paths: readonly string[],
  options: CheckOptions,
  schema: GraphQLSchema,
  settings: DocumentSettings,
): Promise<{ output: string; exitCode: 0 | 1 | 2 }> {
  const { manifest = [], prices, update = false } = options;
  if (manifest.length + paths.length === 0) throw new UserError('Name a manifest, a GraphQL file or a folder.');
  if (update && prices === undefined) throw new UserError('--update needs the price file: --prices FILE.');
  const { operations, findings } = readDocuments(manifest, paths);
  const unread = operations.some(({ isFromManifest }) => isFromManifest) ? [] : unreadSources(paths);
  if (operations.length === 0 && findings.length === 0)
    throw new UserError(`There are no operations in these files${unread.length > 0 ? `: ${IN_SOURCES}` : '.'}`);
  const findLost =
    options.schema === undefined ? undefined : await createLostFinder(readOldSchema(options.schema), schema);
  const check = createOperationCheck(schema, settings, findLost);
  const stored: Prices = prices === undefined || update ? new Map() : readPrices(prices);
  const keys = keysOf(operations);
  const stale = staleFindings(operations);
  const results = operations.map((operation): PricedResult => {
    const key = keys.get(operation)!;
    const before = stored.get(key);
    const result = check(operation);
    return { ...result, key, before, findings: [...result.findings, ...raised(result, before)] };
  });
  if (update) writePrices(prices!, pricesOf(results));
  const report: Report = { results, findings: [...findings, ...stale, ...unread], maxCalls: settings.maxUpstreamCalls };
  const exitCode = unread.length > 0 ? CHECK_USAGE : errorsIn(report) > 0 ? 1 : 0;
  return { output: printReport(report, options.format), exitCode };
}

/**
 * The name of each operation in the price file. One that is in a file and in a manifest has two prices, because clients add fields to what
 * they send; operations of one name with different texts, as of several releases, have the beginning of a hash too.
 */
function keysOf(operations: readonly CheckedOperation[]): ReadonlyMap<CheckedOperation, string> {
  const inFiles = new Set(operations.flatMap(({ name, isFromManifest }) => (isFromManifest ? [] : [name])));
  const baseOf = ({ name, isFromManifest }: CheckedOperation) =>
    isFromManifest && inFiles.has(name) ? `${name} (manifest)` : name;
  const texts = new Map<string, Set<string>>();
  for (const each of operations) texts.set(baseOf(each), (texts.get(baseOf(each)) ?? new Set()).add(each.text));
  return new Map(
    operations.map((operation) => {
      const base = baseOf(operation);
      return [operation, texts.get(base)!.size === 1 ? base : `${base} ${sha256Of(operation.text).slice(0, 8)}`];
    }),
  );
}

function raised({ cost, operation }: CheckResult, before: StoredPrice | undefined): Finding[] {
  const rose = cost && before ? rises(before, storedPrice(cost)) : [];
  if (rose.length === 0) return [];
  const message = `It costs more than the price file says: ${rose.join('; ')}. --update accepts it.`;
  const coordinate = cost?.dearest?.coordinate;
  return [{ severity: 'error', code: 'COST_RAISED', message, coordinate, location: operation.location }];
}

const pricesOf = (results: readonly PricedResult[]): Prices =>
  new Map(results.flatMap(({ key, cost }) => (cost ? [[key, storedPrice(cost)]] : [])));
