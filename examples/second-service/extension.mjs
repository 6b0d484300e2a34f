// Joins the shop to the graph: `Book.availability`.
import { Book, count, endpoint, gives, service, takes, textOrNull } from 'catalog-graphql/extend';

/** What `createFacade` needs for a shop at this address. */
export function withShop(baseUrl) {
  const shop = service({
    name: 'shop',
    baseUrl,
    share: 'public', // stock and price are the same for everybody, so they are cached
    callsAMinute: 600,
    concurrency: 10,
    endpoints: {
      stock: endpoint('GET /stock/:isbn', null, takes(), gives(200), { key: ['isbn'] }),
    },
  });
  const extend = (builder) => {
    const Availability = builder.objectRef('Availability').implement({
      description: 'What the shop has of a book.',
      fields: (t) => ({
        inStock: t.reads('copies', count, 'The copies that it has.'),
        price: t.reads('price', textOrNull, 'The price, in yuan.'),
      }),
    });
    builder.objectField(Book, 'availability', (t) =>
      t.call({
        type: Availability,
        description: 'Whether the shop has the book. One call of the shop for each book.',
        nullIf: 'the shop does not sell it',
        endpoint: shop.endpoints.stock,
        from: ['isbn13'],
        input: ({ isbn13 }) => ({ isbn: isbn13 }),
        isUnavailable: ({ isbn13 }) => !isbn13,
      }),
    );
  };
  return { services: [shop], extend };
}
