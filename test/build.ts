import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, publishClient, publishDocs, publishGraphiql, publishOperations } from '../build.mjs';
import { openOrigin } from '../src/origin/server.ts';
import { skippedLine } from './support/optional.ts';

/** Builds the program and fills the demo data once, before all tests. */
export async function setup(): Promise<() => void> {
  const skipped = skippedLine();
  if (skipped) console.log(skipped);
  await bundle().catch((error: unknown) => {
    console.error('The program does not build; tests that start it will fail.', error);
    // Never test an older build; tests that do not need it still run.
    rmSync(new URL('../dist/main.js', import.meta.url), { force: true });
  });
  await publishOperations();
  await publishClient();
  await publishGraphiql();
  await publishDocs();
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-'));
  try {
    const demoDir = fileURLToPath(new URL('../demo', import.meta.url));
    const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true });
    await origin.close();
    process.env.FILLED_DATA_DIR = dataDir;
  } catch (error) {
    console.error('The origin does not open; tests that need it will fail.', error);
  }
  return () => rmSync(dataDir, { recursive: true, force: true });
}
