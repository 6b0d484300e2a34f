// Books with what a shop has of them. In a folder with the package: `BASE_URL=… EVENT_BASE_URL=… node main.mjs`.
import { createFacade } from 'catalog-graphql';
import { withShop } from './extension.mjs';
import { openShop } from './shop.mjs';

const shop = await openShop();
const { BASE_URL: baseUrl, EVENT_BASE_URL: eventBaseUrl } = process.env;
const facade = createFacade({ baseUrl, eventBaseUrl, logLevel: 'error', ...withShop(shop.url) });

async function ask(query, explain) {
  const headers = { 'content-type': 'application/json', 'x-explain': explain };
  const request = new Request('http://here/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await facade.fetch(request)).json();
}

const query =
  '{ books: nodes(ids: ["Book:6082808", "Book:26340138"]) { ... on Book { title availability { inStock price } } } }';
const planned = await ask(query, 'plan');
const { data, extensions } = await ask(query, 'trace');
console.log('price:', JSON.stringify(planned.extensions.upstream.services));
console.log('data:', JSON.stringify(data));
for (const { service, path } of extensions.upstream.calls) console.log('call:', service, path);
await facade.close();
shop.close();
