/** The command `usage` and its options. What it does is loaded when it is given. */
import type { Command } from 'commander';
import { fail } from './run.ts';
import type { UsageOptions } from './usage-text.ts';

export function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description('say which clients sent which operations, and how many upstream calls these made')
    .argument('<url>', 'a server with USAGE=on')
    .option('--token-file <file>', 'file with the token of USAGE_TOKEN')
    .option('--json', 'as JSON')
    .action(usage);
}

async function usage(url: string, options: UsageOptions): Promise<void> {
  try {
    const { runUsage } = await import('./usage-text.ts');
    process.stdout.write(await runUsage(url, options));
  } catch (error) {
    fail(error);
  }
}
