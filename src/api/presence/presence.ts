/** How it is said what the service always sends of a record, beside the type of the record, which does not tell. */
import type { Tier } from '../endpoint.ts';

/** Names, or names with the film tiers that get them. One of several names is written `a|b`. */
export type Presence = readonly string[] | Readonly<Record<string, readonly Tier[]>>;

/**
 * By type: what all of its records have, where that differs from the members that are required by the type. A row with an endpoint and a
 * place in its response takes precedence.
 */
export type PresenceTable = Readonly<Record<string, Presence>>;

export const page = ['start', 'count', 'total'];

export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

export function without(names: readonly string[], ...left: string[]): string[] {
  return names.filter((name) => !left.includes(name));
}

export function withoutMembers<T>(members: Readonly<Record<string, T>>, ...left: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !left.includes(name)));
}
