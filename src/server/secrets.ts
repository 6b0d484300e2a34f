/** Uses the secrets of files as they change. */
import type { Logger } from 'pino';
import { type SecretSettings, type SecretUsers, watchSecretFiles } from '../config/secret-files.ts';
import type { UpstreamClient } from '../upstream/client.ts';

export function followSecrets(
  config: SecretSettings,
  upstream: Pick<UpstreamClient, 'changeAccessToken' | 'changeRedisUrl' | 'changeKeysUrl'>,
  log: Logger,
  everyMs?: number,
) {
  const users: SecretUsers = {
    accessToken: atOnce(upstream.changeAccessToken),
    redisUrl: (url, onOutcome) => void upstream.changeRedisUrl(url, onOutcome),
    idempotencyRedisUrl: (url, onOutcome) => void upstream.changeKeysUrl(url, onOutcome),
  };
  const watches = watchSecretFiles(config, users, reportSecrets(log), everyMs);
  return {
    close: async (): Promise<void> => {
      for (const each of watches) each.close();
    },
  };
}

/** Logs what became of the new value of a secret. */
const reportSecrets =
  (log: Logger) =>
  (variable: string, problem: string | undefined): void =>
    problem === undefined
      ? log.info({ variable }, `${variable} has changed: its new value is in use`)
      : log.error({ variable, problem }, `${variable} cannot be used as it is now: the value before stays in use`);

const atOnce =
  (use: (value: string) => void) =>
  (value: string, onOutcome: (problem: string | undefined) => void): void => {
    use(value);
    onOutcome(undefined);
  };
