/** The commands `seed` and `backup`, about the data of the origin. */
import type { Command } from 'commander';
import { wholeNumber } from '../cli/arguments.ts';
import { checkWritable } from '../cli/process.ts';
import { createProgress } from '../cli/progress.ts';
import type { Flags } from '../config/read.ts';
import { type Config, flagOf, settings } from '../config/settings.ts';
import { demoDir } from './origin.ts';
import { run } from './run.ts';

const DATA_DIR = [`${flagOf('dataDir')} <value>`, `${settings.dataDir.description} (${settings.dataDir.env})`] as const;

export function addDataCommands(program: Command, flags: () => Flags): void {
  program
    .command('seed')
    .description('add generated books to the data of the origin, for measurements')
    .requiredOption('--books <number>', 'number of books', wholeNumber)
    .option(...DATA_DIR)
    .action(({ books }: { books: number }) => run(flags(), (config) => seed(config, books)));
  program
    .command('backup')
    .description('copy the data of the origin, which may be running, to a new folder')
    .argument('<folder>', 'the folder; an origin can be started with it as its data folder')
    .option(...DATA_DIR)
    .action((folder: string) => run(flags(), (config) => backup(config, folder)));
}

async function seed({ dataDir }: Config, books: number): Promise<string> {
  checkWritable(dataDir);
  const progress = createProgress(process.stderr);
  const { growCatalog } = await import('../origin/store/seed/synthetic.ts');
  growCatalog({ dataDir, demoDir, books, onProgress: (done) => progress.at(done, books, `${done} of ${books} books`) });
  progress.end();
  return `seeded    ${books} books, the data in ${dataDir}\n`;
}

async function backup({ dataDir }: Config, folder: string): Promise<string> {
  const { backUp } = await import('../origin/store/database/backup.ts');
  const pictures = backUp(dataDir, folder);
  return `backup    the database and ${pictures} ${pictures === 1 ? 'picture' : 'pictures'} of ${dataDir}, in ${folder}\n`;
}
