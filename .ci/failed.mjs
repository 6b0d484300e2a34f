/** node failed.mjs <report> <limit>: prints the files of the failures, a line each; nothing if there are more failures than the limit, or none. */
import { existsSync } from 'node:fs';
import { readReport } from './failures.mjs';

const [file, limit] = process.argv.slice(2);
if (existsSync(file)) {
  const { failures } = readReport(file);
  if (failures.length <= Number(limit)) for (const each of new Set(failures.map(({ file }) => file))) console.log(each);
}
