/** The request of `catalog-graphql usage`: what keeps it from a report is one sentence. */
import { httpAddress } from '../config/kinds.ts';
import { settings } from '../config/settings.ts';
import type { UsageReport } from '../server/features/usage/report.ts';
import { errorCodeOf } from '../upstream/availability.ts';
import { readTextFile } from '../lib/text/read-text.ts';
import { UserError } from '../lib/user-error.ts';

/** A server that is overloaded still responds. */
const TIMEOUT_MS = 10_000;

/** The token in a file; undefined without a file. Throws a UserError. */
export function usageTokenIn(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const { must, read } = settings.usageToken;
  const token = read(readTextFile(path).trim());
  if (token === undefined) throw new UserError(`${path} must contain ${must}.`);
  return token;
}

/** Throws a UserError. */
export async function usageReportOf(url: string, token: string | undefined): Promise<UsageReport> {
  const base = httpAddress.read(url);
  if (base === undefined)
    throw new UserError(`${httpAddress.redact(url)} must be ${httpAddress.must}, such as http://localhost:4000.`);
  const address = `${base.replace(/\/(?:usage)?$/, '')}/usage`;
  const { status, text } = await answerOf(address, token);
  if (status === 401 && token !== undefined) throw new UserError(`${address} refuses the token of the file.`);
  if (status === 401) throw new UserError(`${address} needs the token of USAGE_TOKEN: --token-file FILE.`);
  if (status === 404) throw new UserError(`${address} is not there: set USAGE=on, in production USAGE_TOKEN too.`);
  if (status !== 200) throw new UserError(`${address} responds with status ${status}.`);
  const report = reportIn(text);
  if (!report) throw new UserError(`${address} responds with something else than counts.`);
  return report;
}

async function answerOf(address: string, token: string | undefined): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    // A redirect could lead the token elsewhere.
    const response = await fetch(address, { headers, redirect: 'manual', signal });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const { cause = error } = error as Error;
    const reason = signal.aborted ? 'no answer in time' : errorCodeOf(cause);
    throw new UserError(`${address} cannot be reached: ${reason}.`);
  }
}

function reportIn(text: string): UsageReport | undefined {
  try {
    const report = JSON.parse(text) as Partial<UsageReport> | null;
    return Array.isArray(report?.operations) ? (report as UsageReport) : undefined;
  } catch {
    return undefined;
  }
}
