/** What a document costs, where it is written. The numbers are those of the server and of its `check`, of the same code. Needs `graphql` 16. */
import { documentSettings } from '../../generated/document-settings.ts';
import { createAssess } from '../../src/engine/documents/assess.ts';
import { hintText, hintsOf } from '../../src/engine/documents/hints.ts';
import { schema } from '../../src/graph/schema.ts';

/** Limits of the server, if they are not those by default. */
export interface PriceLimits {
  readonly maxUpstreamCalls?: number;
  readonly possibleCallsFactor?: number;
  readonly maxItems?: number;
  readonly maxValues?: number;
  readonly maxDepth?: number;
  readonly maxFields?: number;
  readonly maxRootFields?: number;
  readonly maxMutations?: number;
  readonly maxAliases?: number;
}

export interface DocumentPrice {
  /** Its name; null if it has none. */
  readonly operation: string | null;
  /** Why the server rejects it, whatever its variables are; empty if it may run. */
  readonly errors: readonly { readonly code: string; readonly message: string }[];
  /** Calls of the service; null if the document cannot be planned. */
  readonly calls: { readonly least: number; readonly likely: number; readonly most: number } | null;
  /** `Type.field`: the field with the most calls; null if there are none. */
  readonly mostExpensive: string | null;
  readonly hints: readonly PriceHint[];
}

/** A change that makes it cheaper. */
export interface PriceHint {
  /** As people read it. */
  readonly text: string;
  /** The calls that are likely with it, by which the server judges a query. */
  readonly likely: number;
  /** The most calls with it. */
  readonly calls: number;
}

const remembered = new Map<string, ReturnType<typeof assessorOf>>();

/** The price of an operation. The document has all its fragments; `operationName` chooses one of several operations. */
export function price(document: string, operationName?: string, limits: PriceLimits = {}): DocumentPrice {
  const key = JSON.stringify(limits);
  const known = remembered.get(key) ?? assessorOf(limits);
  remembered.set(key, known);
  const { errors, ready, cost } = known.assess(document, operationName);
  const hints = cost ? hintsOf(cost.usual, known.settings) : [];
  return {
    operation: ready?.operation.name?.value ?? null,
    errors: errors.map(({ message, extensions: { code } }) => ({
      message,
      code: typeof code === 'string' ? code : 'BAD_USER_INPUT',
    })),
    calls: cost?.calls ?? null,
    mostExpensive: cost?.dearest?.coordinate ?? null,
    hints: hints.map((hint) => ({
      text: hintText(hint, known.settings.maxUpstreamCalls),
      likely: hint.likely,
      calls: hint.calls,
    })),
  };
}

function assessorOf(limits: PriceLimits) {
  const settings = { ...documentSettings, ...limits };
  return { assess: createAssess(schema, settings), settings };
}
