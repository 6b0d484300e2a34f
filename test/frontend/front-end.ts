import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { made } from '../support/made.ts';
import { temporaryDirectory } from '../support/service.ts';

// Front ends import one of them.
await Promise.all([made('operations'), made('client')]);

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A copy of a front end of this folder in another folder, with the tools, and with this package or the one of front ends. */
export function frontEnd(name: string, using: 'catalog-graphql' | 'catalog-graphql-client'): string {
  const folder = temporaryDirectory();
  cpSync(join(root, 'test/frontend', name), folder, { recursive: true });
  cpSync(join(root, 'test/frontend/tsconfig.base.json'), join(folder, 'tsconfig.base.json'));
  if (using === 'catalog-graphql-client') {
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('catalog-graphql/', 'catalog-graphql-client/'));
    }
  }
  // Its own tools take precedence over those of the repository.
  for (const tools of ['test/frontend', 'test/clients', '.']) {
    const from = join(root, tools, 'node_modules');
    if (!existsSync(from)) continue;
    const entries = readdirSync(from).flatMap((entry) =>
      /^[@.]/.test(entry) && statSync(join(from, entry)).isDirectory()
        ? readdirSync(join(from, entry)).map((each) => join(entry, each))
        : [entry],
    );
    for (const entry of entries) {
      const place = join(folder, 'node_modules', entry);
      mkdirSync(dirname(place), { recursive: true });
      if (!existsSync(place)) symlinkSync(join(from, entry), place);
    }
  }
  symlinkSync(using === 'catalog-graphql' ? root : join(root, 'client'), join(folder, 'node_modules', using));
  return folder;
}

/** The lines of the compiler that begin an error. */
export const errorsIn = (out: string): string[] => out.split('\n').filter((line) => /^\S/.test(line));

/** Runs a program of the dependencies. */
export const run = (folder: string, [program = '', ...args]: readonly string[]): Promise<Result> =>
  node(folder, [join('node_modules/.bin', program), ...args]);

interface Result {
  code: number;
  out: string;
}

/** Without the environment of the tests: some programs print less if they detect a test runner. */
export function node(folder: string, args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out: `${out}${err}` }),
    );
  });
}
