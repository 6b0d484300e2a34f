/** The types of `import { price } from 'catalog-graphql/price'`. */
import type { FacadeOptions } from './facade.js';

/**
 * What a server with these settings says of an operation before it runs it, and what the operation costs. It opens nothing and calls
 * nothing. With `variables` (also `{}`), for these; without, for all that it may be sent with. `document` has the operation and all its
 * fragments; `operationName` chooses one of several.
 */
export function price(
  document: string,
  variables?: Variables,
  settings?: PriceSettings,
  operationName?: string,
): OperationPrice;

export type Variables = Readonly<Record<string, unknown>>;

/** The options of `createFacade`. Those that are not limits, introspection or suggestions change nothing. */
export type PriceSettings = Readonly<Partial<Omit<FacadeOptions, 'extend' | 'services'>>>;

export interface OperationPrice {
  /** Its name; null if it has none. */
  readonly operation: string | null;
  /** Why the server rejects it for a caller with a token whose film tier is not known yet; without `variables`, whatever they are. Empty if it may run. */
  readonly errors: readonly PriceError[];
  /** Null if the document cannot be planned. */
  readonly cost: OperationCost | null;
  /** The field with the most upstream calls; null if there are none. */
  readonly mostExpensive: ExpensiveField | null;
  /** A token needs a scope of each list, to get every field. */
  readonly scopes: readonly (readonly string[])[];
  /** The film tiers that get every field; null if no field depends on the tier. */
  readonly tiers: readonly string[] | null;
  /** Whether some field needs the token of a person. */
  readonly loginRequired: boolean;
}

export interface OperationCost {
  /**
   * Upstream calls: the fewest if nothing is cached, every record exists and the caller has a token; what is likely then, if moreover every
   * list is full and every item has what the service sends of it; and the most.
   */
  readonly calls: { readonly least: number; readonly likely: number; readonly most: number };
  /** The most objects in lists. */
  readonly items: number;
  /** The most values: the fields of all objects. */
  readonly values: number;
}

export interface ExpensiveField {
  /** `Type.field` */
  readonly coordinate: string;
  /** Response keys from the root, joined by dots. */
  readonly path: string;
  /** The most calls of this field. */
  readonly calls: number;
}

export interface PriceError {
  readonly message: string;
  readonly code: string;
  readonly locations: readonly { readonly line: number; readonly column: number }[];
  /** Of an operation that costs too much: its most expensive field. */
  readonly coordinate?: string;
}
