import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Answered, Embedded } from './program.ts';

let built: Promise<string> | undefined;

async function bundled(): Promise<string> {
  const outfile = `dist/extension-${process.pid}.js`;
  const options = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const;
  await build({ entryPoints: ['test/extension/program.ts'], outfile, ...options });
  return outfile;
}

/** What facades with extensions answer, one after the other in a process of their own. */
export async function embed(...facades: readonly Embedded[]): Promise<Answered[]> {
  return embedWith({}, ...facades);
}

/** The same, with the settings of the shop. */
export async function embedWith(shop: object, ...facades: readonly Embedded[]): Promise<Answered[]> {
  const program = await (built ??= bundled());
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(facades)], {
    env: { ...process.env, SHOP: JSON.stringify(shop) },
  });
  return JSON.parse(stdout) as Answered[];
}
