/** Declares the command `doctor`. */
import type { Command } from 'commander';
import { type Flags, readConfig, withoutEffect } from '../config/read.ts';

export function addDoctorCommand(program: Command, flags: () => Flags): void {
  program
    .command('doctor')
    .description('check the settings, Redis, the upstreams, their clocks, the token and caching, with reads alone')
    .option('--json', 'print the result for programs', false)
    .addHelpText('after', '\nThe exit code is 1 if a check failed; warnings are no failure.')
    .action(async ({ json }: { json: boolean }) => {
      const { diagnose } = await import('../doctor/doctor.ts');
      const { diagnosesJson, diagnosesText, exitCodeOf } = await import('../doctor/diagnosis.ts');
      const all = await diagnose({
        readSettings: () => readConfig(undefined, withBothAddresses(flags())),
        withoutEffect: withoutEffect(flags()),
      });
      process.exitCode = exitCodeOf(all);
      process.stdout.write(`${(json ? diagnosesJson : diagnosesText)(all)}\n`);
    });
}

/** One address on the command line is that of both upstreams. */
function withBothAddresses(flags: Flags): Flags {
  const { baseUrl, eventBaseUrl = baseUrl } = flags;
  return baseUrl === undefined || eventBaseUrl === undefined ? flags : { ...flags, eventBaseUrl };
}
