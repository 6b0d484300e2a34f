/** The commands that print a document: `schema`, `settings` and `manifest`. */
import { type Command, Option } from 'commander';
import { settingsMarkdown } from '../config/settings-page.ts';
import type { ManifestOptions } from './manifest-text.ts';
import { fail } from './run.ts';

/** Loaded on demand, as is the server: it takes half of the time of a start, and most commands do without. */
async function loadSchema() {
  return (await import('../graph/schema.ts')).schema;
}

export function addDocumentCommands(program: Command): void {
  program
    .command('schema')
    .description('print the schema')
    .action(async () => {
      const { printMarkedSchema } = await import('../engine/null-conditions.ts');
      process.stdout.write(`${printMarkedSchema(await loadSchema())}\n`);
    });
  program
    .command('settings')
    .description('print all settings, as the page of docs')
    .action(() => void process.stdout.write(`${settingsMarkdown()}\n`));
  program
    .command('manifest')
    .description('print a manifest of the operations in files and folders, for PERSISTED_OPERATIONS')
    .argument('<paths...>', 'GraphQL files, folders of them, or - for the standard input')
    .addOption(
      new Option('--format <format>', 'hashes and texts, or the format of Apollo')
        .choices(['hashes', 'apollo'])
        .default('hashes'),
    )
    .option('--typename', 'add __typename to every selection, as Apollo Client does', false)
    .action(async (paths: string[], options: ManifestOptions) => {
      try {
        const { createManifest } = await import('./manifest-text.ts');
        process.stdout.write(`${createManifest(paths, await loadSchema(), options)}\n`);
      } catch (error) {
        fail(error);
      }
    });
}
