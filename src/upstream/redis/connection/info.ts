/** Reads the response of Redis to INFO. */

/** A field of the response; undefined if it is not there. */
export const infoField = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] || undefined;

/** Memory and eviction, by the section memory. `maxBytes`: 0 if there is no limit. */
export const memoryIn = (info: string): { usedBytes: number; maxBytes: number; policy: string | undefined } => ({
  usedBytes: Number(infoField(info, 'used_memory') ?? 0),
  maxBytes: Number(infoField(info, 'maxmemory') ?? 0),
  policy: infoField(info, 'maxmemory_policy'),
});

/** Whether each change is written to disk, by the section persistence; undefined if the server does not say. */
export function writesToDisk(info: string): boolean | undefined {
  const enabled = infoField(info, 'aof_enabled');
  return enabled === undefined ? undefined : enabled === '1';
}
