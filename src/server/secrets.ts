/** Uses the token of ACCESS_TOKEN_FILE as it changes. */
import type { Logger } from 'pino';
import { type TokenSettings, watchTokenFile } from '../config/secret-files.ts';
import type { UpstreamClient } from '../upstream/client.ts';

export function followSecrets(
  config: TokenSettings,
  { changeAccessToken }: Pick<UpstreamClient, 'changeAccessToken'>,
  log: Logger,
  everyMs?: number,
) {
  const variable = 'ACCESS_TOKEN_FILE';
  const watch = watchTokenFile(config, {
    ...(everyMs !== undefined && { everyMs }),
    onToken(token) {
      changeAccessToken(token);
      log.info({ variable }, `${variable} has changed: its new value is in use`);
    },
    onProblem: (problem) =>
      log.error({ variable, problem }, `${variable} cannot be used as it is now: the value before stays in use`),
  });
  return { close: () => watch?.close() };
}
