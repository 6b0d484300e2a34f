/** The graph with a shop, as docs/extend.md prints it. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { createFacade } from '../../facade.d.ts';
import { settingsFor } from '../support/embedded.ts';
import { tsExamplesOf } from '../support/examples.ts';
import { listen } from '../support/listen.ts';
import { service, temporaryDirectory } from '../support/service.ts';

type GraphWithShop = (
  catalog: { baseUrl: string; eventBaseUrl: string },
  shopUrl: string,
  rankOf: (isbn: string) => Promise<number | null>,
) => ReturnType<typeof createFacade>;

const sources = { 'catalog-graphql/extend': 'src/extend.ts', 'catalog-graphql': 'src/facade.ts' };
const file = join(temporaryDirectory(), 'shop.ts');
const printed = tsExamplesOf('docs/extend.md')[0]!;
writeFileSync(
  file,
  printed.replaceAll(/'(catalog-graphql[^']*)'/g, (_, name: keyof typeof sources) => `'${resolve(sources[name])}'`),
);
const { graphWithShop } = (await import(pathToFileURL(file).href)) as { graphWithShop: GraphWithShop };
const { url } = await service();

test('a book has its stock for one call in all, the computed field and the rank of a program', async () => {
  const asked: [path: string | undefined, token: string | undefined][] = [];
  const shop = await listen(
    createServer(({ url: path, headers }, response) => {
      asked.push([path, headers.authorization]);
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ isbn: '9787544253994', copies: 1 }));
    }),
  );
  const { baseUrl, eventBaseUrl } = settingsFor(url);
  const ranked: string[] = [];
  const facade = graphWithShop({ baseUrl, eventBaseUrl }, shop, (isbn) => {
    ranked.push(isbn);
    return Promise.resolve(7);
  });
  onTestFinished(() => facade.close());
  const query = '{ book(id: "6082808") { rank availability { copies isLast } } }';
  // The book, its stock, and the resolver.
  expect(facade.price(query)).toMatchObject({ cost: { calls: { most: 3 } } });
  for (const token of ['demo-alice', 'demo-bob'])
    expect(await facade.execute({ query, token })).toMatchObject({
      data: { book: { rank: 7, availability: { copies: 1, isLast: true } } },
    });
  // Everybody has the stock of the first; the caller's token does not go there.
  expect(asked).toEqual([['/stock/9787544253994', 'Bearer token-of-the-shop']]);
  expect(ranked).toEqual(['9787544253994', '9787544253994']);
});
