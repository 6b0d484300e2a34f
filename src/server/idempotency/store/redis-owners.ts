/** Who may have claimed a key of a sender: the person, and each credential that is known to be of this person. */
import type { RedisAccess } from '../../../upstream/redis/shared-state.ts';
import { hashOf } from '../key.ts';
import { type KeyStore, credentialOwner, personOwner } from './key-store.ts';
import type { KeyScripts } from './redis-scripts.ts';
import { seal, unseal } from './seal.ts';

export function createOwners(
  { connection, call }: RedisAccess,
  { link }: Pick<KeyScripts, 'link'>,
  ofOwner: (what: string, owner: string) => string,
  ttlMs: number,
): Pick<KeyStore, 'owners' | 'link'> {
  const personKey = (credential: string) => connection.key(`key-person:${hashOf(credential)}`);
  const credentialsKey = (person: string) => ofOwner('key-credentials', personOwner(person));
  return {
    async owners(credential, person) {
      const own = credentialOwner(credential);
      const known = person ?? (await call(async () => (await connection.redis.get(personKey(credential))) ?? ''));
      if (known === undefined) return undefined;
      const whose = person ?? (known === '' ? undefined : unseal(credential, known));
      if (whose === undefined) return [own];
      const linked = await call(() => connection.redis.smembers(credentialsKey(whose)));
      return linked && [personOwner(whose), ...new Set([own, ...linked.map(credentialOwner)])];
    },
    link(credential, person) {
      const keys = [personKey(credential), credentialsKey(person)];
      void call(() => link(keys, [seal(credential, person), credential, ttlMs]));
    },
  };
}
