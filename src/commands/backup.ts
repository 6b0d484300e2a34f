/** The command `backup`. */
import type { Command } from 'commander';
import type { Flags } from '../config/read.ts';
import { type Config, flagOf, settings } from '../config/settings.ts';
import { run } from './run.ts';

export function addBackupCommand(program: Command, flags: () => Flags): void {
  program
    .command('backup')
    .description('copy the data of the origin, which may be running, to a new folder')
    .argument('<folder>', 'the folder; an origin can be started with it as its data folder')
    .option(`${flagOf('dataDir')} <value>`, `${settings.dataDir.description} (${settings.dataDir.env})`)
    .action((folder: string) => run(flags(), (config) => backup(config, folder)));
}

async function backup({ dataDir }: Pick<Config, 'dataDir'>, folder: string): Promise<string> {
  const { backUp } = await import('../origin/store/database/backup.ts');
  const pictures = backUp(dataDir, folder);
  return `backup    the database and ${pictures} ${pictures === 1 ? 'picture' : 'pictures'} of ${dataDir}, in ${folder}\n`;
}
