/** Reads the endpoints that the plan names, with ids that it takes from lists, and then the others. */
import { readShapes } from '../../generated/api-shapes.ts';
import type { Endpoint } from '../api/endpoint.ts';
import {
  type PlannedRead,
  firstReads,
  lastReads,
  namesIn,
  readEndpoints,
  shortPage,
  skippedReads,
} from '../api/presence/reading-plan.ts';
import { isBroken, tiersSeen } from './reads.ts';
import type { ServiceRead, ServiceReader } from './service-reader.ts';

/** Endpoints that were not read, and why. */
export type Unread = Map<Endpoint, string>;

/** An upstream that fails so often is not called again. */
const TRIALS = 3;
/** Only a person's token may read these. */
const LOGIN = "it needs a person's token";

export async function readEach(reader: ServiceReader): Promise<Unread> {
  const unread: Unread = new Map();
  const ids = new Map<string, string>();
  /** Reads an endpoint with an id, and remembers ids that its response has. */
  const step = async (
    endpoint: Endpoint,
    input: Readonly<Record<string, unknown>>,
    found: PlannedRead['finds'] = {},
  ) => {
    const [param] = endpoint.params;
    const id = (param !== undefined && input[param]) || namesIn(endpoint).flatMap((name) => ids.get(name) ?? [])[0];
    if (param !== undefined && id === undefined) return void unread.set(endpoint, 'no list had an id for it');
    const ofService = reader.reads.filter((each) => each.endpoint.service === endpoint.service);
    if (ofService.length >= TRIALS && ofService.every(isBroken))
      return void unread.set(endpoint, 'the upstream does not answer');
    const known = endpoint.isTiered ? tiersSeen(reader.reads) : [];
    if (known.length > 0 && !known.some((tier) => endpoint.tiers.includes(tier)))
      return void unread.set(endpoint, `the tier ${known.join(' or ')} does not get it`);
    const read = await reader.read(endpoint, { ...(param !== undefined && { [param]: id }), ...input });
    if (!read) return void unread.set(endpoint, 'the calls of this run were used up');
    for (const [name, path] of Object.entries(found)) remember(ids, name, idAt(read.value, path));
    return read;
  };
  const planned = async ({ endpoint, inputs = [shortPage(endpoint)], finds, unlessFound }: PlannedRead) => {
    if (unlessFound !== undefined && ids.has(unlessFound)) return;
    for (const input of inputs) if (!isEmptyList(await step(endpoint, input, finds))) return;
  };
  /** Reads endpoints that the plan does not name. */
  const others = async (isWanted: (endpoint: Endpoint) => boolean) => {
    for (const endpoint of readEndpoints) {
      if (endpoint.login || skippedReads.includes(endpoint) || unread.has(endpoint) || isRead(reader, endpoint))
        continue;
      if (isWanted(endpoint)) await step(endpoint, shortPage(endpoint));
    }
  };

  for (const each of firstReads) await planned(each);
  const seen = new Set(reader.reads.map(({ endpoint }) => typeOf(endpoint)));
  await others((endpoint) => !seen.has(typeOf(endpoint)));
  for (const each of lastReads) if (!isRead(reader, each.endpoint)) await planned(each);
  await others(() => true);
  for (const endpoint of readEndpoints)
    if (!isRead(reader, endpoint) && !unread.has(endpoint))
      unread.set(endpoint, endpoint.login ? LOGIN : 'it is the same as another, or needs what one person has');
  return unread;
}

const typeOf = ({ method, path }: Endpoint): string | undefined => readShapes[`${method} ${path}`];

const isRead = ({ reads }: ServiceReader, endpoint: Endpoint): boolean =>
  reads.some((read) => read.endpoint === endpoint);

/** Then other words may find some. */
function isEmptyList(read: ServiceRead | undefined): boolean {
  const { value, endpoint } = read ?? {};
  const items =
    endpoint?.list === undefined ? undefined : (value as Record<string, unknown> | undefined)?.[endpoint.list];
  return Array.isArray(items) && items.length === 0;
}

function remember(ids: Map<string, string>, name: string, id: string | undefined): void {
  if (id !== undefined && !ids.has(name)) ids.set(name, id);
}

/** The first id at a path like `books[].series.id`. */
function idAt(value: unknown, path: string): string | undefined {
  let found: unknown[] = [value];
  for (const name of path.split('.')) {
    const isList = name.endsWith('[]');
    const members = found.map((each) => (each as Record<string, unknown> | null)?.[isList ? name.slice(0, -2) : name]);
    found = (isList ? members.flat() : members).filter((each) => each !== undefined && each !== null);
  }
  const [first] = found;
  return (typeof first === 'string' && /^[\w.~-]{1,128}$/.test(first)) || typeof first === 'number'
    ? String(first)
    : undefined;
}
