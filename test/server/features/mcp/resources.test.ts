import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObjectType, parse, validate } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { recordDocument } from '../../../../src/server/features/mcp/documents/record-document.ts';
import { schema } from '../../../../src/graph/schema.ts';
import { agent } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';
import { temporaryDirectory } from '../../../support/service.ts';

let setup: Awaited<ReturnType<typeof journey>>;
let client: Awaited<ReturnType<typeof agent>>['client'];
beforeAll(async () => {
  setup = await journey({ mcp: 'on', mcpOperations: 'operations' });
  ({ client } = await agent(setup.facade.url));
});

const read = async (uri: string) =>
  (await client.readResource({ uri })).contents[0] as { text: string; mimeType: string; _meta?: object };

test('the schema and the error documentation are resources', async () => {
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(['catalog://schema.graphql', 'catalog://docs/errors.md']);
  expect((await read('catalog://schema.graphql')).text).toContain('type Book implements Node');
  const lines = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  expect(lines((await read('catalog://docs/errors.md')).text)).toBe(lines(readFileSync('docs/errors.md', 'utf8')));
});

test('a record is read by its global id in one upstream call, with its time to live', async () => {
  const [template] = (await client.listResourceTemplates()).resourceTemplates;
  expect(template!.uriTemplate).toBe('catalog://{type}/{id}');
  setup.proxy.start();
  const { text, mimeType, _meta } = await read('catalog://Book/6082808');
  expect(setup.proxy.stop()).toHaveLength(1);
  expect(JSON.parse(text)).toMatchObject({
    __typename: 'Book',
    id: 'Book:6082808',
    title: '百年孤独',
    rating: { average: expect.any(Number) as number },
  });
  expect(mimeType).toBe('application/json');
  expect(_meta).toEqual({ 'catalog-graphql/ttlSeconds': expect.any(Number) as number });
});

test.each(['catalog://book/6082808', 'CATALOG://BOOK/6082808', 'catalog://BoOk/6082808'])(
  'the case of scheme and type does not matter: %s',
  async (uri) => {
    const { text, ...content } = await read(uri);
    expect(JSON.parse(text)).toMatchObject({ id: 'Book:6082808' });
    expect(content).toMatchObject({ uri });
  },
);

test('what people write has no time to live: it may be deleted at any time', async () => {
  for (const uri of ['catalog://User/alice', 'catalog://Collection/alice:27025715'])
    expect((await read(uri))._meta).toBeUndefined();
});

test('every type with a global id has a valid document', () => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'))
      expect(validate(schema, parse(recordDocument(type)))).toEqual([]);
  }
});

test.each([
  ['catalog://Book/99999999', -32002],
  ['catalog://Nothing/1', -32002],
  ['catalog://Book/..%2F1', -32002],
  ['catalog://Note/244600051', -32603],
])('reading %s fails', async (uri, code) => {
  await expect(read(uri)).rejects.toMatchObject({ code });
});

test.each([{ introspection: 'off' }, { persistedOnly: 'on' }])('the schema is not a resource with %j', async (off) => {
  const persistedOperations = join(temporaryDirectory(), 'manifest.json');
  writeFileSync(persistedOperations, JSON.stringify({ any: 'query Any { __typename }' }));
  const setup = await journey({ mcp: 'on', mcpOperations: 'operations', persistedOperations, ...off });
  const { resources } = await (await agent(setup.facade.url)).client.listResources();
  expect(resources.map(({ name }) => name)).toEqual(['docs/errors.md']);
});
