/** What the graph says that a field requires, compared with what callers get when they run the operations of the package. */
import { TypeInfo, parse, visit, visitWithTypeInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { requirementsOf } from '../../src/engine/requirements/requirements.ts';
import { createAssess } from '../../src/engine/documents/assess.ts';
import { readTabs } from '../../src/server/graphql/documents/tabs.ts';
import { journey } from '../support/journey.ts';
import { everyNth } from '../support/optional.ts';

const callers = [
  { name: 'nobody', token: undefined },
  { name: 'a basic user', token: 'demo-bob' },
  { name: 'an advance user', token: 'demo-alice' },
  { name: 'a premium user', token: 'demo-carol' },
  { name: 'the token of the facade, which is of nobody', token: 'demo-app' },
  { name: 'a token that the service does not know', token: 'wrong' },
] as const;

/** They show whether a token is accepted, and its tier. */
const evidence = [
  '{ subject(id: "1292052") { summary writers { name } } }',
  '{ celebrity(id: "1054521") { birthday } }',
  '{ book(id: "1003078") { viewerCollection { id } } }',
];

/** What is there for those that change and remove it, by the field that does: an entry of the shelf, or a record whose id they name. */
const content = '这一页值得再读一遍：一句话就把人物写活了。'.repeat(10);
const collect = 'mutation { collectBook(input: { bookId: "1003078", status: WISH }) { created } }';
const present: Record<string, string> = {
  updateCollection: collect,
  deleteCollection: collect,
  updateAnnotation: `mutation { made: createAnnotation(input: { bookId: "1003078", content: "${content}" }) { of: annotation { id } } }`,
  updateNote: `mutation { made: createNote(input: { title: "一", content: "二" }) { of: note { id } } }`,
  replaceReview: `mutation { made: createReview(input: { bookId: "1003078", title: "一", content: "${content}" }) { of: review { id } } }`,
};

const operations = readTabs('operations').map(({ name, query: text, variables: samples }, round) => ({
  name,
  text,
  samples,
  round,
}));

/** Each field of a document: its coordinate and the names of the response path to it. */
function fieldsOf(text: string): { coordinate: string; path: string[] }[] {
  const found: { coordinate: string; path: string[] }[] = [];
  const info = new TypeInfo(schema);
  const path: string[] = [];
  const Field = {
    enter: (node: { alias?: { value: string }; name: { value: string } }) => {
      path.push((node.alias ?? node.name).value);
      found.push({ coordinate: `${info.getParentType()!.name}.${node.name.value}`, path: [...path] });
    },
    leave: () => void path.pop(),
  };
  visit(parse(text), visitWithTypeInfo(info, { Field }));
  return found.filter(({ coordinate }) => !coordinate.endsWith('.__typename'));
}

/** The values at a path; of lists, those of all items. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, path));
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  return typeof value === 'object' && value !== null ? valuesAt((value as Record<string, unknown>)[name], rest) : [];
}

describe.each(operations)('$name', ({ text, samples, round }) => {
  const fields = fieldsOf(text);
  const coordinates = [...new Set(fields.map(({ coordinate }) => coordinate))];
  const asked = coordinates.map((name, index) => `f${index}: canUse(coordinate: "${name}")`).join(' ');
  const { requirements } = createAssess(schema, readConfig({}))(text);

  test.each(everyNth(callers, 2, round))('what is told of it holds for $name', async ({ token }) => {
    const { execute } = await journey();
    for (const query of evidence) await execute(query, { token });
    const made = Object.keys(present).find((field) => text.includes(` ${field}(`));
    const before = made === undefined ? undefined : await execute(present[made]!, { token });
    const id = (before?.data as { made?: { of?: { id: string } } } | undefined)?.made?.of?.id;
    const variables = made === undefined ? samples : { ...samples, id: id ?? '1', title: '一', content };
    const { data, errors = [] } = await execute(text, { token, variables });
    const { viewer } = (await execute(`{ viewer { filmTier ${asked} } }`, { token })).data as {
      viewer: Record<string, boolean | null> & { filmTier: string | null };
    };
    const told = new Map(coordinates.map((coordinate, index) => [coordinate, viewer[`f${index}`]]));
    const refusals = errors.map(
      ({ extensions }) => extensions as { code: string; coordinate: string; upstream?: object },
    );

    const toldRefused = fields.filter(({ coordinate }) => told.get(coordinate) === false);
    // The lists of a person are there for callers who do not get the record.
    const got = toldRefused.filter(
      ({ coordinate, path }) =>
        coordinate !== 'Query.celebrity' && valuesAt(data, path).some((value) => value !== null && value !== undefined),
    );
    expect(got).toEqual([]);

    // A person of a film is there for more tiers than a person alone: of that, check knows the path.
    const isByPath = (coordinate: string) => coordinate.startsWith('Celebrity.');
    // Of a person's token the service itself refuses the call of a film.
    const isTierRefusal = ({ code, upstream }: (typeof refusals)[number]) =>
      code === 'TIER_REQUIRED' || (code === 'FORBIDDEN' && JSON.stringify(upstream).includes('/v2/movie/'));
    const known = refusals.filter(
      (each) => ['LOGIN_REQUIRED', 'UNAUTHENTICATED'].includes(each.code) || isTierRefusal(each),
    );
    expect(known.filter(({ coordinate }) => told.get(coordinate) === true && !isByPath(coordinate))).toEqual([]);

    const isAccepted = token !== undefined && token !== 'wrong';
    for (const refusal of known) {
      const requirement = requirementsOf(schema).get(refusal.coordinate);
      if (refusal.code === 'LOGIN_REQUIRED') expect(requirement).toMatchObject({ loginRequired: true });
      if (isTierRefusal(refusal)) expect(requirements!.tiers).not.toContain(viewer.filmTier?.toLowerCase());
      else expect({ refusal, isAccepted }).toMatchObject({ isAccepted: false });
    }
    // Its scopes do not let the token of the facade act for a person: canUse knows no scopes, and says so.
    const others = refusals
      .filter((each) => !known.includes(each) && each.code !== 'RATE_LIMITED')
      .map(({ code }) => code);
    if (token !== 'demo-app') expect(others).toEqual([]);
    // What check says of the whole operation.
    if (requirements!.loginRequired && !isAccepted)
      expect(fields.some(({ coordinate }) => told.get(coordinate) === false)).toBe(true);
  });
});
