import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import type { Asked } from './toy-program.ts';

const DECLARATION = 'test/engine/toy-service.ts';
const PROGRAM = 'dist/toy-program.js';
/** The files of this project that the program loads. */
let loaded: string[];

beforeAll(async () => {
  const { metafile } = await build({
    entryPoints: ['test/engine/toy-program.ts'],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outfile: PROGRAM,
    metafile: true,
  });
  loaded = Object.keys(metafile.inputs);
});

/** What a process of its own answers to each, and the calls that it made for it: the builder of a schema is one for a process. */
async function serve(...asked: readonly Asked[]) {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, JSON.stringify(asked)]);
  return JSON.parse(stdout) as { answer: unknown; calls: string[] }[];
}

const twoShops = `{
  a: shop(id: "1") { name keeper { name } }
  b: shop(id: "2") { name keeper { name born shops(first: 2) { nodes { name } } } }
}`;

test('a second service is declared in at most 40 lines', () => {
  const lines = readFileSync(DECLARATION, 'utf8').split('\n');
  const declared = lines.filter((line) => !/^(import .*|\/\*\* .*)?$/.test(line));
  expect(declared.length).toBeLessThanOrEqual(40);
});

test('no file of the catalog is loaded for a second service', () => {
  expect(loaded).toEqual(expect.arrayContaining(['src/engine/execute/resolve.ts', 'src/upstream/http/call.ts']));
  expect(loaded.filter((file) => /^src\/(graph|origin|atom)\//.test(file))).toEqual([]);
  expect(loaded.filter((file) => file.startsWith('src/api/')).sort()).toEqual([
    'src/api/api-request.ts',
    'src/api/endpoint-table.ts',
    'src/api/endpoint.ts',
    'src/api/record-source.ts',
    'src/api/service-descriptor.ts',
  ]);
});

test('a second service is planned: a member is requested only if it is selected', async () => {
  expect(await serve({ query: '{ shop(id: "1") { name } }' })).toEqual([
    { answer: { data: { shop: { name: 'Shop 1' } } }, calls: ['/v2/shop/1?fields=id,name'] },
  ]);
});

test('a second service is batched: what several fields need of a record is one request', async () => {
  const node = (member: string) => `node(id: "Keeper:7") { ... on Keeper { ${member} } }`;
  expect(await serve({ query: `{ a: ${node('name')} b: ${node('born')} }` })).toEqual([
    {
      answer: { data: { a: { name: 'Keeper 7' }, b: { born: '1970' } } },
      calls: ['/v2/keeper/7?fields=born,id,name'],
    },
  ]);
});

test('a second service has references and lists, and is cached: a record is read once', async () => {
  const again = '{ keeper(id: "7") { name born } node(id: "Shop:1") { ... on Shop { name } } }';
  const [first, second] = await serve({ query: twoShops }, { query: again });
  const nodes = [{ name: 'Shop 1' }, { name: 'Shop 2' }];
  expect(first!.answer).toEqual({
    data: {
      a: { name: 'Shop 1', keeper: { name: 'Keeper 7' } },
      b: { name: 'Shop 2', keeper: { name: 'Keeper 7', born: '1970', shops: { nodes } } },
    },
  });
  expect(second).toEqual({
    answer: { data: { keeper: { name: 'Keeper 7', born: '1970' }, node: { name: 'Shop 1' } } },
    calls: [],
  });
});

test('a second service is priced and explained without a call', async () => {
  const [price, plan] = await serve({ query: twoShops, isPriced: true }, { query: twoShops, explain: 'plan' });
  expect(price).toEqual({ answer: { likely: expect.any(Number), catalog: 5, events: 0, film: 0 }, calls: [] });
  expect(plan).toMatchObject({ answer: { extensions: { upstream: { min: 2, max: 5 } } }, calls: [] });
});

test('a second service is traced: each call has its field', async () => {
  const [traced] = await serve({ query: '{ keeper(id: "7") { name } }', explain: 'trace' });
  const call = { method: 'GET', path: '/v2/keeper/7', fields: 'id,name', status: 200, field: 'keeper' };
  expect(traced!.answer).toMatchObject({ extensions: { upstream: { calls: [call] } } });
});

test('a second service has its own errors: its table says which mean that there is none, and what clients get', async () => {
  const [none, closed] = await serve(
    { query: '{ shop(id: "none") { name } }' },
    { query: '{ shop(id: "closed") { name } }' },
  );
  expect(none!.answer).toEqual({ data: { shop: null } });
  const extensions = { code: 'SHOP_CLOSED', upstream: { code: 8, message: 'shop_is_closed' } };
  expect(closed!.answer).toMatchObject({ errors: [{ extensions }] });
});
