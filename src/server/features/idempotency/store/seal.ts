/** What is derived of a key: the name of its row, hashes, and the encryption of what is kept. The key itself is stored nowhere. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

const derive = (key: string, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, 'catalog-graphql', label, KEY_BYTES));

export type KeySecrets = ReturnType<typeof secretsOf>;

export function secretsOf(key: string) {
  const sealing = derive(key, 'what is kept of the key');
  const hashing = derive(key, 'hashes under the key');
  return {
    name: derive(key, 'name of the row').toString('base64url'),
    /** A hash that only a request with the key can compute. */
    hash: (text: string): string => createHmac('sha256', hashing).update(text).digest('base64url'),
    seal(text: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, sealing, iv);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },
    /** Undefined if it is none, or was changed since. */
    unseal(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv(ALGORITHM, sealing, bytes.subarray(0, IV_BYTES));
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
