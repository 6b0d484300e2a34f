/** Declares the command `doctor`. */
import type { Command } from 'commander';
import { ConfigError, type Flags, readConfig, withoutEffect } from '../config/read.ts';
import { writeDocument } from '../cli/output.ts';
import type { DoctorParts } from '../doctor/doctor.ts';
import type { ManifestSettings } from '../engine/documents/check-manifest.ts';
import { createLog } from '../lib/log.ts';
import { loadSchema } from './documents.ts';

export function addDoctorCommand(program: Command, flags: () => Flags): void {
  program
    .command('doctor')
    .description('check the settings, the upstreams, the token, Redis, the manifest and memory, with reads alone')
    .option('--json', 'print the result for programs', false)
    .addHelpText('after', '\nThe exit code is 1 if a check failed; warnings are no failure.')
    .action(async ({ json }: { json: boolean }) => {
      const { diagnose } = await import('../doctor/doctor.ts');
      const { diagnosesJson, diagnosesText, exitCodeOf } = await import('../doctor/diagnosis.ts');
      const all = await diagnose({
        readSettings: () => readConfig(undefined, withBothAddresses(flags())),
        startProblems,
        withoutEffect: withoutEffect(flags()),
        manifestProblems,
      });
      process.exitCode = exitCodeOf(all);
      writeDocument(`${(json ? diagnosesJson : diagnosesText)(all)}\n`);
    });
}

/** One address on the command line is that of both upstreams. */
function withBothAddresses(flags: Flags): Flags {
  const { baseUrl, eventBaseUrl = baseUrl } = flags;
  return baseUrl === undefined || eventBaseUrl === undefined ? flags : { ...flags, eventBaseUrl };
}

async function manifestProblems(config: ManifestSettings): Promise<string[]> {
  const { manifestProblems: problemsOf } = await import('../engine/documents/check-manifest.ts');
  return problemsOf(await loadSchema(), config);
}

/** Makes the server as the start does, without a port and without Redis. */
const startProblems: DoctorParts['startProblems'] = async (config) => {
  const [{ createGraphServer }, { createCore }, { allFeatures }] = await Promise.all([
    import('../server/server.ts'),
    import('../server/core.ts'),
    import('../server/features/features.ts'),
  ]);
  const alone = { ...config, redisUrl: undefined, idempotencyRedisUrl: undefined };
  const core = createCore(alone, createLog('silent', process.stderr));
  const server = createGraphServer(core, allFeatures({}));
  try {
    await server.ready();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  } finally {
    server.closeManifests();
    await core.close();
    await server.end();
  }
};
