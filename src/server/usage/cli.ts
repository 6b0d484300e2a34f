/** The command `usage` and its options. What it does is loaded when it is given. */
import { type Command, InvalidArgumentError } from 'commander';
import type { UsageOptions } from './command.ts';

export function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description('say which fields nobody reads, and who reads those that are deprecated')
    .argument('<urls...>', 'a server with USAGE=on; of several replicas, each')
    .option('--token-file <file>', 'file with the token of USAGE_TOKEN')
    .option('--days <number>', 'a field that nobody read for as long may be removed', days, 30)
    .action(usage);
}

async function usage(urls: string[], options: UsageOptions): Promise<void> {
  const { UsageReadError, runUsage } = await import('./command.ts');
  try {
    process.stdout.write(await runUsage(urls, options));
  } catch (error) {
    if (!(error instanceof UsageReadError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

function days(text: string): number {
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError('It must be a number of days.');
  return Number(text);
}
