/** node failed.mjs <report> <limit>: prints the files of the failures, a line each; nothing if there are more failures than the limit, or none. */
import { readReport } from './failures.mjs';

const [path, limit] = process.argv.slice(2);
const { failures } = readReport(path) ?? { failures: [] };
if (failures.length <= Number(limit)) for (const file of new Set(failures.map(({ file }) => file))) console.log(file);
