import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { tiers } from '../../src/api/endpoint.ts';
import { schema } from '../../src/graph/schema.ts';
import { createAssess } from '../../src/engine/documents/assess.ts';
import { journey } from '../support/journey.ts';
import { everyNth } from '../support/optional.ts';

/** The callers: without a token the facade's own is sent. */
const callers = [
  { name: 'nobody', token: undefined, tier: 'advance' },
  { name: 'bob', token: 'demo-bob', tier: 'basic' },
  { name: 'alice', token: 'demo-alice', tier: 'advance' },
  { name: 'carol', token: 'demo-carol', tier: 'premium' },
  { name: 'the token of the facade', token: 'demo-app', tier: 'advance' },
] as const;

/** More paths to the same fields than the operations of the package have. */
const more = {
  'people of a film':
    '{ subject(id: "1292052") { title directors { name webUrl } casts { name portrait { small } } } }',
  'more of the people of a film': '{ subject(id: "1292052") { title directors { name birthday } } }',
  'a person': '{ celebrity(id: "1054521") { name nameEn birthday } }',
  'a person, by its name alone': '{ celebrity(id: "1054521") { name } }',
  'films of a person': '{ celebrity(id: "1054521") { works(first: 3) { nodes { roles subject { title } } } } }',
  'many films of a person, and who that is':
    '{ celebrity(id: "1054521") { name webUrl works(first: 9) { nodes { subject { title } } } } }',
  'a person, by the id alone': '{ celebrity(id: "1054521") { id } }',
  'lists of a film':
    '{ subject(id: "1292052") { reviews(first: 2) { nodes { title } } photos(first: 2) { nodes { id } } } }',
  'long lists of a film':
    '{ subject(id: "1292052") { reviews(first: 20) { nodes { title } } photos(first: 20) { nodes { id } } } }',
  'members that a film withholds': '{ subject(id: "1292052") { title writers { name } durations languages } }',
  'films of a list': '{ top250(first: 2) { nodes { title summary directors { name } } } }',
  'a film of a search': '{ searchSubjects(query: "的", first: 2) { nodes { title year casts { name } } } }',
  'a film by node': '{ node(id: "Subject:1292052") { ... on Subject { title casts { name } } } }',
  'no film': '{ book(id: "6082808") { title } }',
};

/** They show the tier of a token. */
const evidence = [
  '{ subject(id: "1292052") { summary writers { name } } }',
  '{ celebrity(id: "1054521") { birthday } }',
];

const isKey = (key: string | number): key is string => typeof key === 'string';

/** Of a person's token the service itself refuses the call of a film. */
const isTierRefusal = ({ extensions: { code, upstream } }: { extensions: Record<string, unknown> }): boolean =>
  code === 'TIER_REQUIRED' || (code === 'FORBIDDEN' && JSON.stringify(upstream).includes('/v2/movie/'));

const shipped = readdirSync('operations')
  .map((file) => [file, readFileSync(join('operations', file), 'utf8')] as const)
  .filter(([, text]) => isQuery(parse(text)));

function isQuery({ definitions }: DocumentNode): boolean {
  return definitions.every((node) => node.kind !== 'OperationDefinition' || node.operation === 'query');
}

const operations = [...shipped, ...Object.entries(more)].map(([name, text], round) => ({ name, text, round }));

describe.each(operations)('$name', ({ text, round }) => {
  const { requirements } = createAssess(schema, readConfig({}))(text);

  test.each(everyNth(callers, 2, round))('$name gets what check says of the tier', async ({ token, tier }) => {
    const { execute } = await journey();
    const said = requirements!.excluded.find((each) => each.tier === tier);
    const gets = requirements!.tiers === null || requirements!.tiers.includes(tier);
    for (const isTierKnown of [false, true]) {
      if (isTierKnown) for (const query of evidence) await execute(query, { token });
      const { errors = [] } = await execute(text, { token });
      const paths = errors.filter(isTierRefusal).map(({ path = [] }) => path.filter(isKey).join('.'));
      expect({ isTierKnown, gets: paths.length === 0, paths }).toMatchObject({ gets, ...(gets && { paths: [] }) });
      // A record of which nothing is left is refused as a whole.
      if (said) expect(paths.some((path) => `${said.path}.`.startsWith(`${path}.`))).toBe(true);
    }
  });
});

test('check names the field that excludes a tier, by its path', () => {
  const { requirements } = createAssess(schema, readConfig({}))(more['more of the people of a film']);
  expect(requirements).toMatchObject({
    tiers: ['advance'],
    excluded: [
      { tier: 'basic', coordinate: 'Celebrity.birthday', path: 'subject.directors.birthday' },
      { tier: 'premium', coordinate: 'Celebrity.birthday', path: 'subject.directors.birthday' },
    ],
  });
  expect(createAssess(schema, readConfig({}))(more['people of a film']).requirements).toMatchObject({
    tiers,
    excluded: [],
  });
});

test('fieldRequirements and canUse know that a film brings its people, and the operation shows it', async () => {
  const { execute } = await journey();
  for (const query of evidence) await execute(query, { token: 'demo-carol' });
  const { data } = await execute(
    `{ viewer { filmTier name: canUse(coordinate: "Celebrity.name") birthday: canUse(coordinate: "Celebrity.birthday") }
       service { fieldRequirements { coordinate tiers } } }`,
    { token: 'demo-carol' },
  );
  expect(data.viewer).toEqual({ filmTier: 'PREMIUM', name: true, birthday: false });
  const requirements = data.service.fieldRequirements as { coordinate: string; tiers: string[] | null }[];
  const tiersOf = (coordinate: string) => requirements.find((each) => each.coordinate === coordinate)?.tiers;
  expect(tiersOf('Celebrity.name')).toEqual(['BASIC', 'ADVANCE', 'PREMIUM']);
  expect(tiersOf('Celebrity.birthday')).toEqual(['ADVANCE']);
  expect(tiersOf('Subject.writers')).toEqual(['ADVANCE', 'PREMIUM']);
});
