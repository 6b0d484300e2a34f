/** What an operation may cost, counted before it runs. */
import type { Endpoint } from '../../api/endpoint.ts';
import { capped } from './frame.ts';

/** Upstream calls. */
export interface CallRange {
  /** At least, if every record exists. */
  min: number;
  /** If every list is full and every item has what the service sends of it, as the declarations say. */
  likely: number;
  /** At most. */
  max: number;
}
export const noCalls = (): CallRange => ({ min: 0, likely: 0, max: 0 });

/** What is called, as costs name it. */
export type PricedEndpoint = Pick<Endpoint, 'path' | 'service'> & { readonly method: string };
/** What an ordinary resolver calls: nobody knows whom. */
export const ownCalls = (path: string): PricedEndpoint => ({ method: 'resolver', path, service: 'resolvers' });

export interface FieldCost extends CallRange {
  /** Response keys from the root, without list indexes. */
  path: string;
  /** `Type.field` */
  coordinate: string;
  /** `GET /v2/book/:id/tags` */
  endpoint: string;
}
export interface CallCost extends CallRange {
  services: Record<Endpoint['service'], CallRange>;
  fields: FieldCost[];
}

/** The most that a response may contain, and the field that contributes most. Shown by `x-explain: plan`, so its names are public. */
export interface Maximum {
  max: number;
  dearest: { path: string; coordinate: string; max: number };
}

export interface WorstCase {
  calls: CallCost;
  /** Objects in lists. */
  items: Maximum;
  /** Fields of all objects, each as often as it is shown. */
  values: Maximum;
}

/** Adds to an amount what one field contributes. */
export function addAmount(amount: Maximum, times: number, path: string, coordinate: string): void {
  const max = capped(times);
  amount.max = capped(amount.max + max);
  if (max > amount.dearest.max) amount.dearest = { path, coordinate, max };
}
