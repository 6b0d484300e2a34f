import type { OperationPrice } from '../../../price.d.ts';
import type { Assessment } from './assess.ts';

/** What is said of an operation before it runs, as `price` returns it. */
export function operationPrice({ errors, ready, cost, requirements }: Assessment): OperationPrice {
  return {
    operation: ready?.operation.name?.value ?? null,
    errors: errors.map(({ message, locations = [], extensions: { code, coordinate } }) => ({
      message,
      code: typeof code === 'string' ? code : 'BAD_USER_INPUT',
      locations,
      ...(typeof coordinate === 'string' && { coordinate }),
    })),
    cost: cost ? { calls: cost.calls, items: cost.items, values: cost.values } : null,
    mostExpensive: cost?.dearest ?? null,
    scopes: requirements?.scopes ?? [],
    tiers: requirements?.tiers ?? null,
    loginRequired: requirements?.loginRequired ?? false,
  };
}
