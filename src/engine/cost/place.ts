/** Where a field is counted: what the fields above it say of how often it is resolved, and of what is known there. */
import { type Endpoint, type Representation, type Tier, tiers } from '../../api/endpoint.ts';
import type { FieldRule } from '../plan/declaration-types.ts';

/** The size of a list that neither an argument nor its field limits. */
export const LIST_SIZE = 20;

/** A list with a parameter for the variants of its items. */
interface CountedList {
  param: string;
  /** Variants that need no further call. */
  variants: Set<string | undefined>;
  times: number;
  endpoint: Endpoint;
}

/** Where a field is counted. */
export interface Place {
  /** How many times it is resolved. */
  times: number;
  path: string;
  /** Items of the page or list that it belongs to. */
  size: number;
  /** The members that its parent's items provide; undefined if only their ids are certain. */
  provided: Representation | undefined;
  /** The tiers for which it can have a value: below a call, those that get the endpoint. */
  possibleTiers: readonly Tier[];
  /** The list whose items are being counted. */
  listing: CountedList | undefined;
  /** Fields of the items whose values the list limits, and to how many: their parent again, or none. */
  back: readonly { name: string; times: number }[];
  /** How many different records the field returns, if they are fewer than `times`. */
  records: number | undefined;
}

export const rootPlace: Place = {
  times: 1,
  path: '',
  size: LIST_SIZE,
  provided: undefined,
  possibleTiers: tiers,
  listing: undefined,
  back: [],
  records: undefined,
};

/** For the items of a field: the field that is their parent again, and the one that is null. */
export const backOf = ({ backReference, nullField }: FieldRule, times: number): Place['back'] => [
  ...(backReference === undefined ? [] : [{ name: backReference, times }]),
  ...(nullField === undefined ? [] : [{ name: nullField, times: 0 }]),
];
