/** The command `usage` and its options. What it does is loaded when it is given. */
import { type Command, InvalidArgumentError } from 'commander';
import { writeDocument } from '../cli/output.ts';
import { fail } from './run.ts';
import type { UsageOptions } from './usage-text.ts';

export function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description('say which fields nobody reads, and who reads those that are deprecated')
    .argument('<urls...>', 'a server with USAGE=on; of several replicas, each')
    .option('--token-file <file>', 'file with the token of USAGE_TOKEN')
    .option('--manifest <file>', 'say of its documents who runs them; may be repeated, one for each release', several)
    .option('--days <number>', 'a field that nobody read for as long may be removed', days, 30)
    .action(usage);
}

async function usage(urls: string[], options: UsageOptions): Promise<void> {
  try {
    const { runUsage } = await import('./usage-text.ts');
    writeDocument(await runUsage(urls, options));
  } catch (error) {
    fail(error);
  }
}

const several = (file: string, before: readonly string[] = []): string[] => [...before, file];

function days(text: string): number {
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError('It must be a number of days.');
  return Number(text);
}
