/**
 * Looks up names, once for all connections that need an address at a time. The system runs two look-ups at once for the whole process, and
 * one of a name whose server is silent takes it ten seconds and more.
 */
import { type LookupAddress, promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { settlesWithin } from './promises.ts';

interface Name {
  /** What the last look-up found that found any: they are used while none does. */
  addresses?: LookupAddress[];
  running?: Promise<LookupAddress[]> | undefined;
  /** The last look-up took long. */
  isSlow?: boolean;
}

/** How long a connection to known addresses waits for newer ones. */
const ANSWER_MS = 500;
const SLOW_MS = 1_000;

const names = new Map<string, Name>();
/** Until the look-ups so far have ended. */
let pending: Promise<unknown> = Promise.resolve();

/** Those of slow names, and of names that the process can do without, start when no other runs: one of the system's two is left for the rest. */
async function addressesOf(host: string, isOptional: boolean): Promise<LookupAddress[]> {
  const name = names.get(host) ?? {};
  names.set(host, name);
  const lookUp = async () => {
    const begun = performance.now();
    try {
      return (name.addresses = await dns.lookup(host, { all: true }));
    } finally {
      name.running = undefined;
      name.isSlow = performance.now() - begun > SLOW_MS;
    }
  };
  if (!name.running) {
    name.running = isOptional || name.isSlow ? pending.then(lookUp) : lookUp();
    pending = Promise.allSettled([pending, name.running]);
  }
  const { running } = name;
  if (!name.addresses) return running;
  await settlesWithin(ANSWER_MS, running).catch(() => undefined);
  return name.addresses;
}

const lookupFor =
  (isOptional: boolean): LookupFunction =>
  (host, { all }, onFound) => {
    addressesOf(host, isOptional).then(
      (found) => (all ? onFound(null, found) : onFound(null, found[0]!.address, found[0]!.family)),
      (error: NodeJS.ErrnoException) => onFound(error, []),
    );
  };

/** For connections to what every request may need. */
export const lookup = lookupFor(false);
/** For connections to what the process can do without. */
export const optionalLookup = lookupFor(true);
