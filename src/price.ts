/** The price of a document, without a server: `import { price } from 'catalog-graphql/price'`. */
import type { OperationPrice, PriceSettings, Variables } from '../price.d.ts';
import { readOptions } from './config/read.ts';
import { schema } from './graph/schema.ts';
import { operationPrice } from './engine/documents/operation-price.ts';
import { oncePer } from './lib/remember.ts';
import { createAssess } from './engine/documents/assess.ts';

/** No call is made, so the upstreams may be anywhere. */
const NOWHERE = 'http://localhost';

const assessWith = oncePer((settings: PriceSettings) =>
  createAssess(schema, readOptions({ ...settings, baseUrl: NOWHERE, eventBaseUrl: NOWHERE })),
);
const byDefault: PriceSettings = {};

export function price(
  document: string,
  variables?: Variables,
  settings: PriceSettings = byDefault,
  operationName?: string,
): OperationPrice {
  return operationPrice(assessWith(settings)(document, operationName, variables));
}
