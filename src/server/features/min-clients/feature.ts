/** MIN_CLIENTS: requests of releases that are too old are rejected before anything of them is read. */
import type { AdmitRequest, Feature, FeatureParts } from '../../feature.ts';
import { clientOf } from '../../http/request/client.ts';
import { HttpError } from '../../http/response/http-error.ts';
import { isBelow, versionParts } from './version.ts';

/** `ios:5.2` as the name and the version. */
const named = (entry: string, separator: string): [name: string, rest: string] => {
  const at = separator === ':' ? entry.lastIndexOf(separator) : entry.indexOf(separator);
  return [entry.slice(0, at).trim().toLowerCase(), entry.slice(at + 1).trim()];
};

export function createMinClientsFeature({ config }: Pick<FeatureParts, 'config'>): Feature {
  if (config.minClients.length === 0) return {};
  const addresses = new Map(config.clientUpdateUrls.map((entry) => named(entry, '=')));
  const oldest = new Map(config.minClients.map((entry) => named(entry, ':')));

  /** What cannot be compared is let through: most requests of browsers and scripts name no version. */
  const admit: AdmitRequest = ({ headers }) => {
    const client = clientOf(headers);
    const name = client?.name.trim().toLowerCase() ?? '';
    const least = oldest.get(name);
    if (client && least === undefined) return;
    const version = versionParts(client?.version ?? '');
    if (!version || !isBelow(version, versionParts(least!)!)) return;
    const update = addresses.get(name);
    throw new HttpError('CLIENT_TOO_OLD', `This version of ${client!.name} is too old: update it.`, {
      extensions: { minVersion: least, ...(update !== undefined && { update }) },
    });
  };
  return { admit };
}
