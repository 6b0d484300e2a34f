/** Uses the secrets of files as they change. */
import type { Logger } from 'pino';
import { type SecretSettings, type SecretUsers, watchSecretFiles } from '../config/secret-files.ts';
import { watchFile } from '../lib/watch-file.ts';
import { type TlsSettings, type TlsUser, tlsSettings } from '../config/upstream-tls.ts';
import { settings } from '../config/settings.ts';
import type { UpstreamClient } from '../upstream/client.ts';

export function followSecrets(
  config: SecretSettings & TlsSettings,
  upstream: Pick<UpstreamClient, 'changeAccessToken' | 'changeRedisUrl' | 'changeKeysUrl' | 'renewCertificates'>,
  log: Logger,
  everyMs?: number,
) {
  const users: Partial<SecretUsers> = {
    accessToken: atOnce(upstream.changeAccessToken),
    redisUrl: (url, onOutcome) => void upstream.changeRedisUrl(url, onOutcome),
    idempotencyRedisUrl: (url, onOutcome) => void upstream.changeKeysUrl(url, onOutcome),
  };
  const report = reportSecrets(log);
  const watches = [
    ...watchSecretFiles(config, users, report, everyMs),
    ...(['catalog', 'events', 'redis'] as const).flatMap(watchCertificates),
  ];

  function watchCertificates(user: TlsUser) {
    const { ca, cert, key } = tlsSettings[user];
    return [ca, cert, key].flatMap((name) => {
      const path = config[name];
      const { env } = settings[name];
      if (path === undefined) return [];
      const onChange = () => {
        try {
          if (upstream.renewCertificates(user)) report(env, undefined);
        } catch {
          // One of the files is new and another is not yet: its change is seen too.
          report(env, 'the files do not belong together');
        }
      };
      const onUnreadable = (code: string) => report(env, `it cannot be read (${code})`);
      return [watchFile(path, { current: '', onChange, onUnreadable, ...(everyMs !== undefined && { everyMs }) })];
    });
  }

  return {
    close: async (): Promise<void> => {
      for (const each of watches) each.close();
    },
  };
}

/** Logs what became of the new value of a secret. */
export const reportSecrets =
  (log: Logger) =>
  (variable: string, problem: string | undefined): void =>
    problem === undefined
      ? log.info({ variable }, `${variable} has changed: its new value is in use`)
      : log.error({ variable, problem }, `${variable} cannot be used as it is now: the value before stays in use`);

const atOnce =
  <Value>(use: (value: Value) => void) =>
  (value: Value, onOutcome: (problem: string | undefined) => void): void => {
    use(value);
    onOutcome(undefined);
  };
