/** The health check of the image: asks what the command of the container serves where it listens. An argument names another command line. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

// The first process of a container has its command, also where an init starts it.
const words = readFileSync(process.argv[2] ?? '/proc/1/cmdline', 'utf8').split('\0');
const option = { type: 'string' };
const { values, positionals } = parseArgs({
  args: words.filter((word) => word !== '--'),
  strict: false,
  options: { port: option, 'origin-port': option, host: option },
});
const { env } = process;
const isOrigin = positionals.includes('origin');
const port = isOrigin ? (values['origin-port'] ?? env.ORIGIN_PORT) : (values.port ?? env.PORT);
const host = (values.host ?? env.HOST).replace(/^(0\.0\.0\.0|::)?$/, 'localhost');
const answer = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${port}/health`);
// The origin has no /health: that it answers is enough.
process.exitCode = answer.ok || (isOrigin && answer.status === 404) ? 0 : 1;
