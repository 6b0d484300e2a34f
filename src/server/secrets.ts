/** Uses the secrets of files as they change. */
import type { Logger } from 'pino';
import { watchSecretFiles } from '../config/secret-files.ts';
import type { Config } from '../config/settings.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { Tracing } from './observability/tracing.ts';

export function followSecrets(
  config: Config,
  upstream: Pick<UpstreamClient, 'changeAccessToken' | 'changeRedisUrl'>,
  tracing: Pick<Tracing, 'changeHeaders'>,
  log: Logger,
  everyMs?: number,
) {
  const users = {
    accessToken: upstream.changeAccessToken,
    redisUrl: upstream.changeRedisUrl,
    otelExporterOtlpHeaders: tracing.changeHeaders,
  };
  const report = (variable: string, problem: string | undefined) =>
    problem === undefined
      ? log.info({ variable }, `${variable} has changed: its new value is in use`)
      : log.error({ variable, problem }, `${variable} cannot be used as it is now: the value before stays in use`);
  const watches = watchSecretFiles(config, users, report, everyMs);
  return {
    close: async (): Promise<void> => {
      for (const each of watches) each.close();
    },
  };
}
