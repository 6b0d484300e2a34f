/** Certificates of an authority that is made for the test. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEachFile } from './hooks.ts';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const folders: string[] = [];
afterEachFile(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export interface Certificate {
  cert: string;
  key: string;
}

export function createAuthority() {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  folders.push(folder);
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore', cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority', '-days', '2');
  return {
    folder,
    ca: file('ca.pem'),
    /** Paths of a new certificate and its key; `days` is -1 for one that has expired. */
    issue(name: string, days = 2): Certificate {
      openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      writeFileSync(file(`${name}.ext`), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`];
      openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...by, '-days', String(days));
      return { cert: file(`${name}.pem`), key: file(`${name}.key`) };
    },
    read: ({ cert, key }: Certificate) => ({ cert: readFileSync(cert), key: readFileSync(key) }),
  };
}
