/** A second service, of keepers and their shops. It is declared as the catalog is, in `src/api` and `src/graph`. */
import { byOwnId, endpoint, endpointTable, gives, takes, v2 } from '../../src/api/endpoint-table.ts';
import { type Fields, type ListPage, type Window, membersOf } from '../../src/api/endpoint.ts';
import type { ErrorTable, ServiceDescriptor } from '../../src/api/service-descriptor.ts';
import { builder } from '../../src/engine/builder.ts';
import '../../src/engine/fields/declare.ts';
import { Node, identity, queryById, referenceOf } from '../../src/engine/fields/node.ts';
import '../../src/engine/node-query.ts';
import { text } from '../../src/engine/values/decode.ts';

type Keeper = { id: string; name: string; born: string };
type Shop = { id: string; name: string; keeper_id: string };
type ShopPage = ListPage & { shops: Shop[] };
const facts = { ...v2, group: 'shops', share: 'public' } as const;
const { keeper, shop, shops } = endpointTable(facts, {
  keeper: endpoint('GET /v2/keeper/:id', null, takes<Fields>(), gives<Keeper>(200), byOwnId),
  shop: endpoint('GET /v2/shop/:id', null, takes<Fields>(), gives<Shop>(200), byOwnId),
  shops: endpoint('GET /v2/keeper/:id/shops', null, takes<Fields & Window>(), gives<ShopPage>(200), { list: 'shops' }),
});

const errors: ErrorTable = {
  7: { msg: 'no_such_shop', status: 404, client: 'SHOP_NOT_FOUND', means: 'absent', drops: true },
  8: { msg: 'shop_is_closed', status: 403, client: 'SHOP_CLOSED', means: 'rejected', drops: false },
};
const endpoints = [keeper, shop, shops];
export const toyService: ServiceDescriptor = { endpoints, errors, basicCallsAMinute: 40 };

const input = (id: string) => ({ id });
const loadable = { interfaces: [Node], nodeOf: referenceOf };
const KeeperType = builder.objectRef<Keeper>('Keeper').implement({
  ...loadable,
  record: { endpoint: keeper, input, members: membersOf<Keeper>()(['id', 'name', 'born']) },
  fields: (t) => ({
    ...identity(t, 'Keeper'),
    name: t.reads('name', text, 'Name'),
    born: t.reads('born', text, 'Year'),
  }),
});
const ShopType = builder.objectRef<Shop>('Shop').implement({
  ...loadable,
  record: { endpoint: shop, input, members: membersOf<Shop>()(['id', 'name', 'keeper_id']) },
  fields: (t) => ({
    ...identity(t, 'Shop'),
    name: t.reads('name', text, 'The name.'),
    keeper: t.record(KeeperType, { id: 'keeper_id' }, 'Who keeps it.'),
  }),
});
builder.objectField(KeeperType, 'shops', (t) =>
  t.connection({ type: ShopType, description: 'The shops.', nullIf: false, endpoint: shops, from: ['id'] }),
);
queryById(ShopType, shop, 'A shop.', '1');
queryById(KeeperType, keeper, 'A keeper.', '1');
