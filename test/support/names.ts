/** A program for which names are what a test says, as its name service would: the system's own function is replaced. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram } from './optional.ts';
import { temporaryDirectory } from './service.ts';

export const canReplaceNames = process.platform === 'linux' && hasProgram('cc');

/** The file has a line a name: where it leads to, `hang` (for ten seconds, as the C library does without an answer) or `again` (EAI_AGAIN). */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef int (*look_up)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  look_up next = (look_up)dlsym(RTLD_NEXT, "getaddrinfo");
  char key[256], target[256];
  FILE *file = name ? fopen(getenv("NAMES"), "r") : NULL;
  while (file && fscanf(file, "%255s %255s", key, target) == 2) {
    if (strcmp(key, name) != 0) continue;
    fclose(file);
    FILE *log = fopen(getenv("LOOK_UPS"), "a");
    fprintf(log, "%s\\n", name);
    fclose(log);
    if (strcmp(target, "hang") == 0) { sleep(10); return EAI_AGAIN; }
    if (strcmp(target, "again") == 0) return EAI_AGAIN;
    return next(target, service, hints, found);
  }
  if (file) fclose(file);
  return next(name, service, hints, found);
}`;

/** `env`: of the program. `lead` changes where the names lead to, from now on. */
export function replacedNames() {
  const folder = temporaryDirectory();
  const [source, library, names, lookUps] = ['names.c', 'names.so', 'names', 'look-ups'].map((file) =>
    join(folder, file),
  ) as [string, string, string, string];
  writeFileSync(source, SOURCE);
  writeFileSync(lookUps, '');
  const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (built.status !== 0) throw new Error(String(built.stderr));
  const lead = (to: Readonly<Record<string, string>>) =>
    writeFileSync(
      names,
      Object.entries(to)
        .map((line) => `${line.join(' ')}\n`)
        .join(''),
    );
  return { env: { LD_PRELOAD: library, NAMES: names, LOOK_UPS: lookUps }, lookUps, lead };
}
