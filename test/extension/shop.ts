/** A second service, a shop: stock by ISBN, and sellers. What the test sets is in the environment. */
import {
  Book,
  type Extend,
  type Fields,
  type ListPage,
  Node,
  type Window,
  count,
  endpoint,
  gives,
  identity,
  membersOf,
  queryById,
  referenceOf,
  service,
  takes,
  text,
  textOrNull,
} from '../../src/extend.ts';

type Seller = { id: string; name: string; town: string };
type Named = { id: string; title: string };
type Stock = { isbn: string; stock: number; price: string; seller_id: string; book?: Named };
type StockPage = ListPage & { books: Stock[] };
type NamedPage = ListPage & { books: Named[] };

const { ofStock = {}, ...facts } = JSON.parse(process.env.SHOP ?? '{}') as { baseUrl?: string; ofStock?: object };

export const shop = service({
  name: 'shop',
  baseUrl: 'http://127.0.0.1:1',
  ...facts,
  endpoints: {
    // The catalog has this path too.
    stock: endpoint('GET /v2/book/isbn/:isbn', null, takes(), gives<Stock>(200), { key: ['isbn'], ...ofStock }),
    seller: endpoint('GET /sellers/:id', null, takes<Fields>(), gives<Seller>(200), { freshSeconds: 600 }),
    offers: endpoint('GET /sellers/:id/books', null, takes<Window>(), gives<StockPage>(200), { list: 'books' }),
    favourite: endpoint('GET /sellers/:id/favourite', null, takes(), gives<Named>(200)),
    favourites: endpoint('GET /sellers/:id/favourites', null, takes<Window>(), gives<NamedPage>(200), {
      list: 'books',
    }),
  },
});
const { stock, seller, offers, favourite, favourites } = shop.endpoints;

const chosen: Named = { id: '6082808', title: 'Of the shop' };

export const withShop: Extend = (builder) => {
  const Seller = builder.objectRef<Seller>('Seller').implement({
    description: 'Who sells books.',
    interfaces: [Node],
    nodeOf: referenceOf,
    record: { endpoint: seller, input: (id) => ({ id }), members: membersOf<Seller>()(['id', 'name', 'town']) },
    fields: (t) => ({
      ...identity(t, 'Seller'),
      name: t.reads('name', text, 'The name.'),
      town: t.reads('town', textOrNull, 'Where the shop is.'),
    }),
  });
  const Availability = builder.objectRef<Stock>('Availability').implement({
    description: 'Whether the shop has a book.',
    fields: (t) => ({
      inStock: t.reads('stock', count, 'The copies that it has.'),
      price: t.reads('price', textOrNull, 'The price.'),
      seller: t.record(Seller, { id: 'seller_id' }, 'Who sells it.'),
      book: t.record(Book, { member: 'book' }, 'The book.'),
    }),
  });
  builder.objectFields(Seller, (t) => ({
    books: t.connection({ type: Availability, description: 'What it sells.', endpoint: offers, from: ['id'] }),
    favourite: t.call({ type: Book, description: 'The best.', endpoint: favourite, from: ['id'] }),
    chosen: t.field({ type: [Book], description: 'The best.', maxCalls: 0, resolve: () => [chosen] }),
    favourites: t.connection({ type: Book, description: 'The best.', endpoint: favourites, from: ['id'] }),
  }));
  builder.queryField('offer', (t) =>
    t.call({
      type: Availability,
      description: 'An offer.',
      nullIf: 'nobody offers it',
      endpoint: stock,
      args: { like: t.arg.string({ description: 'Which value is sent.' }) },
      input: (_, { like }) => JSON.parse(like ?? '{}') as { isbn: string },
    }),
  );
  queryById(Seller, seller, 'A seller.', '1');
  builder.objectField(Book, 'availability', (t) =>
    t.call({
      type: Availability,
      description: 'Whether the shop has it.',
      nullIf: 'the shop does not sell it',
      endpoint: stock,
      from: ['isbn13'],
      input: ({ isbn13 = '' }) => ({ isbn: isbn13 }),
      isUnavailable: ({ isbn13 }) => !isbn13,
    }),
  );
};
